// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import SimulationShim
internal import Synchronization

/// Something that events happen to.
protocol EventTarget: AnyObject {
    func handle(_ value: Int, serial: UInt32)
}

/// One thread, virtual time, and everything that runs in it: jobs in the order of their arrival, then the next event.
///
/// Tasks reach it as their preferred executor (SE-0417). Tasks that are made inside of it without one, as by
/// `Task { }`, would run on the global executor; the runtime's hook brings their jobs back here.
final class SimulationLoop: TaskExecutor, @unchecked Sendable {
    // @unchecked Sendable: everything but `nanoseconds`, `moves` and `outside` is touched only by the simulation's own
    // thread; each function that other threads can reach asks `isCurrent` first.
    private var jobs: [UnownedJob] = []
    private var nextJob = 0
    private var events = EventHeap()
    private var nextOrder: UInt64 = 0
    private var targets: [any EventTarget] = []

    private let nanoseconds = Atomic<Int64>(0)
    /// How often time has moved.
    private let moves = Atomic<Int64>(0)
    private let outside = Locked(Outside())

    /// The jobs of other threads.
    private struct Outside {
        var jobs: [UnownedJob] = []
        var failure: Storm.Failure?
    }

    /// The CPU time that jobs may take while virtual time stands still.
    static let longestStandstill: Int64 = 1_000_000_000
    /// The CPU time that the ends of calls may take once virtual time has ended.
    private static let longestEnding: Int64 = 60_000_000_000

    /// The present, in nanoseconds.
    var now: Int64 { nanoseconds.load(ordering: .relaxed) }
    var progress: Int64 { moves.load(ordering: .relaxed) }

    /// Whether the present thread is the simulation's own.
    var isCurrent: Bool { refrain_simulation_current() == Unmanaged.passUnretained(self).toOpaque() }

    /// Routes the jobs that simulations leave to the global executor back to them.
    static let installsHook: Void = refrain_simulation_install { simulation, job in
        let loop = Unmanaged<SimulationLoop>.fromOpaque(simulation).takeUnretainedValue()
        loop.jobs.append(unsafeBitCast(job, to: UnownedJob.self))
    }

    // MARK: Jobs

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        guard !isCurrent else { return jobs.append(job) }
        outside.withLock { $0.jobs.append(job) }
        fail(.leftSimulation)
    }

    /// Ends the simulation with an error, of which the first one counts.
    ///
    /// Any thread may call it.
    func fail(_ failure: Storm.Failure) {
        outside.withLock { $0.failure = $0.failure ?? failure }
        hasFailed.store(true, ordering: .relaxed)
    }

    private let hasFailed = Atomic(false)

    /// The error that ended the simulation.
    var firstFailure: Storm.Failure? { outside.withLock { $0.failure } }

    /// Runs all jobs that are ready, and those that they make ready.
    func runJobs() {
        let executor = asUnownedTaskExecutor()
        while nextJob < jobs.count {
            let job = jobs[nextJob]
            nextJob += 1
            if nextJob > 1024, nextJob * 2 > jobs.count {
                jobs.removeFirst(nextJob)
                nextJob = 0
            }
            job.runSynchronously(on: executor)
            if standsStill() { break }
        }
        if nextJob == jobs.count {
            jobs.removeAll(keepingCapacity: true)
            nextJob = 0
        }
    }

    /// Takes over the jobs that other threads have left; returns whether there were any.
    func takeJobsFromOutside() -> Bool {
        let taken = outside.withLock { outside in
            defer { outside.jobs = [] }
            return outside.jobs
        }
        jobs += taken
        return !taken.isEmpty
    }

    /// Whether virtual time has ended; ending a hundred thousand calls takes time, and is not a standstill.
    private var isOver = false

    /// Ends virtual time; what runs from now on are the ends of calls.
    func endTime() {
        isOver = true
        stepsHere = 0
    }

    // MARK: Time

    /// Moves virtual time from event to event up to `horizon`, or until the simulation fails.
    func run(until horizon: Int64) {
        runJobs()
        while !hasFailed.load(ordering: .relaxed), let event = events.first, event.due <= horizon {
            events.removeFirst()
            if event.due > now { move(to: event.due) } else if standsStill() { return }
            targets[Int(event.target)].handle(event.value, serial: event.serial)
            runJobs()
        }
        if !hasFailed.load(ordering: .relaxed), now < horizon { move(to: horizon) }
    }

    private func move(to time: Int64) {
        nanoseconds.store(time, ordering: .relaxed)
        moves.store(moves.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
        stepsHere = 0
    }

    /// Jobs and events of the present instant, and the CPU time at which they were first looked at.
    private var stepsHere = 0
    private var cpuTimeHere: Int64 = 0

    /// Whether jobs have taken so long at the present instant that they will not end; asks for the time rarely.
    private func standsStill() -> Bool {
        stepsHere += 1
        guard stepsHere & 0xFFF == 0 else { return false }
        let cpuTime = refrain_simulation_cpu_time()
        if stepsHere == 0x1000 { cpuTimeHere = cpuTime }
        guard !isOver else {
            moves.store(moves.load(ordering: .relaxed) &+ 1, ordering: .relaxed)
            return cpuTime - cpuTimeHere > Self.longestEnding
        }
        guard cpuTime - cpuTimeHere > Self.longestStandstill else { return false }
        fail(.timeStandsStill(at: .nanoseconds(now)))
        return true
    }

    /// Adds an object that events can happen to; returns its index.
    func add(_ target: any EventTarget) -> Int32 {
        targets.append(target)
        return Int32(targets.count - 1)
    }

    /// Removes all events and targets.
    func removeAll() {
        events.removeAll()
        targets = []
    }

    /// Schedules an event; one that would lie in the past happens next.
    func schedule(at time: Int64, target: Int32, value: Int, serial: UInt32 = 0) {
        nextOrder &+= 1
        let event = SimulationEvent(
            due: max(time, now),
            order: nextOrder,
            target: target,
            serial: serial,
            value: value
        )
        events.insert(event)
    }
}
