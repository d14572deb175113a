// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP
internal import SimulationShim

/// One run of a storm, on its own thread.
final class StormRun: EventTarget, @unchecked Sendable {
    // @unchecked Sendable: used only by the simulation's own thread, from `body` to the end of that function. Before it
    // starts and after it has finished only one thread has a reference; `loop` and `ending` are synchronized.
    private let storm: Storm
    private let groups: [Storm.Group]
    private let loop = SimulationLoop()
    private let sleepers: VirtualSleepers
    private let clocks: RetryClocks
    /// Where all clients keep the limits of their pacers together.
    private let quota: InMemoryQuotaStore
    private var recorder: Recorder
    private var chance: Chance
    /// The random source of all clients; on one thread the order of draws is reproducible.
    private let random: RandomSource
    private var target: Int32 = 0
    /// The tiers, the one that clients call first.
    private var services: [SimulatedService] = []
    private var callers: [Int: Storm.Caller] = [:]
    private var trigger: TriggerState
    private var calls = SlotTable<Task<Void, Never>?>()
    private let maximumCalls: Int
    private let ending: Locked<Ending>

    private struct Ending {
        var continuation: CheckedContinuation<Void, Never>?
        var failure: (any Error)?
    }

    /// The wall clock at the storm's beginning: a fixed date, so that runs repeat.
    private static let wallStart = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))

    init(_ storm: Storm, _ groups: [Storm.Group]) {
        self.storm = storm
        self.groups = groups
        sleepers = VirtualSleepers(loop)
        let loop = loop
        clocks = RetryClocks(monotonic: AnyClock(VirtualClock(sleepers: sleepers))) {
            Self.wallStart.advanced(by: .nanoseconds(loop.now))
        }
        quota = InMemoryQuotaStore(members: storm.clients, clocks: clocks)
        recorder = Recorder(storm, groups: groups.count)
        chance = Chance(seed: Chance.seed(storm.seed, part: 1))
        random = RandomSource(seed: Chance.seed(storm.seed, part: 3))
        trigger = TriggerState(storm.trigger)
        maximumCalls = max(1000, storm.memoryLimit / Storm.bytesPerCall)
        ending = Locked(Ending())
        target = loop.add(self)
    }

    /// Runs the storm; the report says how much faster than real time that was.
    func report() async throws -> Storm.Report {
        _ = SimulationLoop.installsHook
        let begun = ContinuousClock.now
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                ending.withLock { $0.continuation = continuation }
                start()
            }
        } onCancel: {
            stop(CancellationError())
        }
        if let failure = ending.withLock({ $0.failure }) ?? loop.firstFailure { throw failure }
        return recorder.report(groups.map(\.name), speed: storm.duration / begun.duration(to: .now))
    }

    private func start() {
        let thread = refrain_simulation_thread(
            // Both are balanced by `finished`.
            simulation: Unmanaged.passRetained(loop).toOpaque(),
            context: Unmanaged.passRetained(self).toOpaque(),
            body: { Unmanaged<StormRun>.fromOpaque($0).takeUnretainedValue().body() },
            progress: { Unmanaged<StormRun>.fromOpaque($0).takeUnretainedValue().loop.progress },
            stalled: { Unmanaged<StormRun>.fromOpaque($0).takeUnretainedValue().stalled() },
            finished: { Unmanaged<StormRun>.fromOpaque($0).takeRetainedValue().finished() },
            cpu_limit: SimulationLoop.longestStandstill * 3 / 2,
            wall_limit: SimulationLoop.longestStandstill * 10
        )
        guard !withUnsafePointer(to: thread, { refrain_simulation_start($0) }) else { return }
        stop(Storm.Failure.noThread)
        finished()
        Unmanaged.passUnretained(self).release()
    }

    /// Ends the wait of ``report()``; the thread may go on for a while.
    private func finished() {
        Unmanaged.passUnretained(loop).release()
        ending.withLock { $0.continuation.take() }?.resume()
    }

    private func stop(_ failure: any Error) {
        ending.withLock { $0.failure = $0.failure ?? failure }
        loop.fail(.leftSimulation)
    }

    /// The thread does not return: resumes the caller now, and abandons the thread.
    private func stalled() {
        stop(loop.firstFailure ?? Storm.Failure.timeStandsStill(at: .nanoseconds(loop.now)))
        ending.withLock { $0.continuation.take() }?.resume()
    }

    // MARK: On the simulation's thread

    private func body() {
        do {
            try makeServices()
            scheduleArrivals()
            loop.run(until: storm.duration.delayInNanoseconds)
        } catch {
            stop(error)
        }
        recorder.close(quotaUsed: services.compactMap(\.quotaUsed).first)
        loop.endTime()
        drain()
        loop.removeAll()
    }

    /// Cancels the calls that are under way, and waits for their ends.
    private func drain() {
        // Calls that wait neither on the clock nor for a server may be in a queue of their client's, or wait for
        // something real: that would come back now.
        let waits = sleepers.count + services.reduce(0) { $0 + $1.inFlight }
        for _ in 0..<20 where calls.count > waits && loop.firstFailure == nil { refrain_simulation_pause(50_000_000) }
        // Where no call waits on the clock or for a server, none of the others waits for it in a queue.
        if calls.count > 0, waits == 0 { loop.fail(.leftSimulation) }
        calls.forEach { $0?.cancel() }
        // A call that ignores its cancellation, or waits outside, is abandoned.
        for _ in 0..<20 {
            loop.runJobs()
            guard calls.count > 0 else { return }
            refrain_simulation_pause(50_000_000)
            if loop.takeJobsFromOutside() { loop.fail(.leftSimulation) }
        }
        loop.fail(.leftSimulation)
    }

    private func makeServices() throws {
        var next: Storm.Server? = storm.server
        while let server = next {
            // Spikes are the clients'; all else happens to the last tier.
            let isLast = server.backend == nil
            let service = SimulatedService(
                server,
                trigger: isLast ? storm.trigger : .none,
                timeout: storm.timeout,
                seed: Chance.seed(storm.seed, part: UInt64(10 + services.count)),
                on: loop
            )
            let tier = services.count
            service.noteSend = { [unowned self] group in
                self.recorder.noteSend(at: self.loop.now, tier: tier, group: group)
            }
            service.noteRefusal = { [unowned self] in self.recorder.noteRefusal() }
            services.append(service)
            next = server.backend?.server
        }
        var server = storm.server
        for tier in 1..<max(1, services.count) {
            guard let backend = server.backend else { break }
            let client = client(0, of: services[tier])
            let caller = try backend.make(client)
            services[tier - 1].callBackend = { Self.gatewayOutcome(await caller.outcome()) }
            server = backend.server
        }
    }

    /// The answer of a server that called another one.
    private static func gatewayOutcome(_ outcome: SimulatedOutcome) -> SimulatedOutcome {
        switch outcome {
        case .status(let status, _, _) where status < 400: .status(200)
        case .failure(.timedOut), .failure(.deadlineExceeded): .status(504)
        default: .status(502)
        }
    }

    private func client(_ index: Int, group: Int = 0, of service: SimulatedService) -> Storm.Client {
        Storm.Client(
            index: index,
            clocks: clocks,
            random: random,
            quota: quota,
            server: SimulatedLoader(service: service, group: group),
            request: Storm.Client.request
        )
    }

    /// The call function of a client, made at its first call.
    private func caller(_ index: Int) throws -> Storm.Caller {
        if let known = callers[index] { return known }
        let group = group(of: index)
        let client = client(index, group: group, of: services[0])
        let made = try groups[group].make(client)
        callers[index] = made
        return made
    }

    /// The group of a client: clients are dealt to groups evenly, so that each group has its share of any number.
    private func group(of index: Int) -> Int {
        guard groups.count > 1 else { return 0 }
        let total = groups.reduce(0) { $0 + $1.share }
        // The golden ratio's multiples fill an interval evenly.
        let position = (Double(index) + 0.5) * 0.618_033_988_749_895
        var left = (position - position.rounded(.down)) * total
        for (index, group) in groups.enumerated() {
            left -= group.share
            if left < 0 { return index }
        }
        return groups.count - 1
    }

    // MARK: Arrivals

    private static let arrival = -1
    private static let loadChange = -2
    private static let sample = -3

    private func scheduleArrivals() {
        loop.schedule(at: recorder.interval, target: target, value: Self.sample)
        switch storm.load.kind {
        case .open:
            for change in trigger.loadChanges {
                loop.schedule(at: Int64(change * 1e9), target: target, value: Self.loadChange)
            }
            scheduleNextArrival()
        case .closed(let callersPerClient, let pause):
            for caller in 0..<(storm.clients * callersPerClient) {
                let time = Int64(min(chance.exponential(mean: pause), 1e9) * 1e9)
                loop.schedule(at: time, target: target, value: caller)
            }
        }
    }

    /// Tells the arrival that is due next from those that a change of the load has made void.
    private var arrivalSerial: UInt32 = 0

    private func scheduleNextArrival() {
        guard case .open(let perSecond) = storm.load.kind else { return }
        let rate = perSecond * trigger.load(at: Double(loop.now) / 1e9)
        guard rate > 0 else { return }
        let wait = chance.exponential(mean: 1 / rate)
        let time = loop.now + Int64(min(wait, 1e9) * 1e9)
        loop.schedule(at: time, target: target, value: Self.arrival, serial: arrivalSerial)
    }

    func handle(_ value: Int, serial: UInt32) {
        switch value {
        case Self.arrival:
            guard serial == arrivalSerial else { return }
            begin(client: storm.clients == 1 ? 0 : chance.index(below: storm.clients), caller: nil)
            scheduleNextArrival()
        case Self.loadChange:
            // Poisson arrivals have no memory: the next one may be drawn anew.
            arrivalSerial &+= 1
            scheduleNextArrival()
        case Self.sample:
            recorder.noteInFlight(services[0].inFlight, at: loop.now)
            loop.schedule(at: loop.now + recorder.interval, target: target, value: Self.sample)
        default:
            guard case .closed(let callersPerClient, _) = storm.load.kind else { return }
            begin(client: value / callersPerClient, caller: value)
        }
    }

    private func begin(client: Int, caller number: Int?) {
        let caller: Storm.Caller
        do {
            caller = try self.caller(client)
        } catch {
            return stop(error)
        }
        guard calls.count < maximumCalls else {
            return loop.fail(.tooManyCalls(calls.count, at: .nanoseconds(loop.now)))
        }
        let begun = loop.now
        let group = group(of: client)
        recorder.noteCall(at: begun, group: group)
        let slot = calls.insert(nil)
        let task = Task(executorPreference: loop) {
            let outcome = await caller.outcome()
            guard self.loop.isCurrent else { return self.loop.fail(.leftSimulation) }
            _ = self.calls.remove(slot.index, slot.serial)
            self.recorder.noteEnd(at: self.loop.now, begun: begun, isSuccess: outcome.isSuccess, group: group)
            if let number { self.scheduleNext(caller: number) }
        }
        calls.update(slot.index, slot.serial) { $0 = task }
    }

    private func scheduleNext(caller: Int) {
        guard case .closed(_, let pause) = storm.load.kind else { return }
        // In a closed loop a spike shortens the pauses.
        let load = max(trigger.load(at: Double(loop.now) / 1e9), 1e-9)
        let wait = chance.exponential(mean: pause / load)
        loop.schedule(at: loop.now + Int64(min(wait, 1e9) * 1e9), target: target, value: caller)
    }
}
