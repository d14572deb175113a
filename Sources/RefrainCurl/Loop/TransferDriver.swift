internal import CurlShim
internal import RefrainHTTP

/// What the loop does, on the thread of whose turn it is: starts transfers, lets libcurl work, and ends them.
final class TransferDriver {
    /// The moment at which this round of the loop began.
    var now: MonotonicTime {
        get { round.now }
        set { round.now = newValue }
    }

    /// No transfer runs out of time before this moment.
    var nextLimit: MonotonicTime {
        get { round.nextLimit }
        set { round.nextLimit = newValue }
    }

    /// The loop that this driver works for.
    weak var loop: EventLoop?

    /// Whether there were transfers that no caller could have driven by itself: several at a time, or streams.
    var hadCompany = false

    /// Whether the thread has not looked at its sockets for so long that limits may have passed meanwhile.
    var wasAway = false

    /// Whether any connection may speak TLS, to a server or to a proxy.
    private(set) var mayHaveTLS = false

    private let round = LoopIteration()
    let multi: UnsafeMutableRawPointer?
    private let configuration: CurlLoader.Configuration
    private let settings: EasySettings
    // No exclusivity checks: the owner of the loop has exclusive access, and no access leads to another one.
    @exclusivity(unchecked) private(set) var active: [Transfer] = []
    private var heldAnswers = HeldAnswers()
    /// By origin and not by name: libcurl, too, counts the connections of a host however it is spelled.
    private var hosts: [Origin?: OriginQueue] = [:]
    @exclusivity(unchecked) private var lastHost: (name: String, queue: OriginQueue)?
    @exclusivity(unchecked) private var idle = IdleHandles()
    @exclusivity(unchecked) private var ended = EndedTransfers()
    /// Origins with requests that wait for nothing but the next iteration.
    @exclusivity(unchecked) private var startable: [OriginQueue] = []
    /// Handles of transfers that have ended, which libcurl still has.
    @exclusivity(unchecked) private var removable: [HandleRemoval] = []
    /// Handles whose transfers have ended while libcurl looks for an address, which it goes on to do.
    var lookups: [EasyHandle] = []
    /// How many transfers may be started, and removed, before libcurl works and limits are looked at again.
    private var startsLeft = TransferDriver.transfersPerIteration
    private var removalsLeft = TransferDriver.transfersPerIteration

    /// To hand a transfer to libcurl (7.88), and to take it back, takes a walk along all connections to its host: with
    /// 10,000 of them the limits of all others would be overrun by seconds.
    private static let transfersPerIteration = 64

    init(multi: UnsafeMutableRawPointer?, configuration: CurlLoader.Configuration) {
        self.multi = multi
        self.configuration = configuration
        settings = EasySettings(configuration)
        mayHaveTLS = settings.mayUseProxy
        guard let multi else { return }
        refrain_multi_set_long(multi, CURLMOPT_MAXCONNECTS, max(1, configuration.maximumIdleConnections))
        if !settings.mayUseProxy {
            // The queues keep to this by themselves but where a server takes fewer streams on a connection than are
            // let through. For libcurl all origins behind a proxy that is not a tunnel are one host.
            refrain_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maximumConnectionsPerHost)
        }
        refrain_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        refrain_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, OriginQueue.streamsPerConnection)
    }

    /// How long nothing needs to be done unless something happens, in milliseconds.
    func pollTimeout() -> Int32 {
        defer { round.hadActivity = false }
        guard startable.isEmpty, removable.isEmpty else { return 0 }
        return heldAnswers.shorten(MonotonicTime.now.millisecondsUntil(nextLimit), hadActivity: round.hadActivity)
    }

    /// Whether the thread rests before it polls, which would return at once.
    var restsBeforePolling: Bool { CurlVersion.pollsPausedSockets && active.contains { $0.isReceivePaused } }

    /// Whether nothing is under way.
    var isIdle: Bool { active.isEmpty && startable.isEmpty && removable.isEmpty && lookups.isEmpty }

    /// Whether there is likely to be a connection for this transfer.
    func expectsConnection(for transfer: Transfer) -> Bool { queue(for: transfer).hasAnswered }

    func carryOut(_ command: Command) {
        switch command {
        case .start(let transfer): enqueue(transfer)
        case .cancel(let transfer): stop(transfer, transfer.failure(.cancelled, message: "the task was cancelled"))
        case .resume(let transfer): resume(transfer)
        case .discard(let transfer): discard(transfer)
        case .reset(let continuation):
            endAll(.cancelled, "the loader was reset")
            continuation.resume()
        case .run, .stop: break
        }
    }

    /// Lets libcurl work until nothing is left to do but to wait.
    func drive() {
        tellCallers()
        guard let multi else { return }
        var mustGoOn = true
        while mustGoOn {
            // First of all: what has run out of time must not be started. But what has arrived while the thread was
            // busy with something else counts.
            if now >= nextLimit, !wasAway {
                enforceLimits()
                tellCallers()
            }
            wasAway = false
            startsLeft = Self.transfersPerIteration
            removalsLeft = Self.transfersPerIteration
            removeEnded()
            startListed()
            var running: Int32 = 0
            keepingPipeAction { curl_multi_perform(multi, &running) }
            now = .now
            mustGoOn = takeMessages(multi)
            if now >= nextLimit, enforceLimits() { mustGoOn = true }
            if mustGoOn, ended.mayGrow(now: now) { continue }
            tellCallers()
        }
    }

    /// Ends all transfers, those under way and those that wait.
    func endAll(_ code: HTTPError.Code, _ message: String) {
        let waiting = hosts.values.flatMap(\.all)
        for transfer in waiting { end(transfer, transfer.failure(code, message: message)) }
        for transfer in active { end(transfer, transfer.failure(code, message: message)) }
        tellCallers()
        removalsLeft = .max
        removeEnded()
    }

    func freeHandles() { idle.free() }

    // MARK: Beginning

    private func enqueue(_ transfer: Transfer) {
        // What has ended must not be sent.
        guard !transfer.isFinished else { return }
        transfer.begin(round)
        let queue = queue(for: transfer)
        transfer.host = queue
        nextLimit = min(nextLimit, transfer.nextCheck)
        // A connection that is kept for later requests is given up for one that needs it now (rule R28).
        if !queue.hasRoom, let drained = queue.nextDraining() {
            end(drained, drained.failure(.cancelled, message: "the body was dropped unread"))
        }
        if queue.hasRoom, !queue.hasWaiting, startsLeft > 0 {
            startsLeft -= 1
            start(transfer, queue)
        } else {
            transfer.isWaiting = true
            queue.append(transfer)
            if queue.hasRoom { list(queue) }
        }
    }

    /// Notes that an origin has requests to start.
    private func list(_ queue: OriginQueue) {
        guard !queue.isListed else { return }
        queue.isListed = true
        startable.append(queue)
    }

    /// Starts requests that wait for nothing but this iteration.
    private func startListed() {
        guard !startable.isEmpty else { return }
        let listed = startable
        startable = []
        for queue in listed {
            queue.isListed = false
            startWaiting(queue)
        }
    }

    private func queue(for transfer: Transfer) -> OriginQueue {
        if let lastHost, transfer.goes(to: lastHost.name) { return lastHost.queue }
        let origin = transfer.request.origin
        if hosts.count > 1024 { hosts = hosts.filter { !$0.value.isUnused } }
        let queue = hosts[origin] ?? OriginQueue(connections: configuration.maximumConnectionsPerHost)
        hosts[origin] = queue
        lastHost = (transfer.hostName, queue)
        return queue
    }

    private func start(_ transfer: Transfer, _ queue: OriginQueue) {
        let rule: TLSOptions
        do throws(HTTPError) {
            rule = try settings.rule(for: transfer.request)
        } catch {
            end(transfer, error)
            return
        }
        guard let multi, let slot = idle.take(rule) ?? EasyHandle(settings, rule) else {
            end(transfer, transfer.failure(.unknown, message: "there is no memory for a transfer"))
            return
        }
        do throws(HTTPError) {
            try slot.prepare(transfer)
        } catch {
            idle.put(slot)
            end(transfer, error)
            return
        }
        transfer.slot = slot
        queue.active += 1
        transfer.index = active.count
        active.append(transfer)
        if slot.expectsHTTP2 { heldAnswers.transfers += 1 }
        if active.count > 1 || !transfer.isPlain { hadCompany = true }
        if transfer.isTLS { mayHaveTLS = true }
        transfer.start()
        if case .stream(let pipe) = transfer.upload, let loop {
            pipe.onData { loop.post(.resume(transfer)) }
        }
        nextLimit = min(nextLimit, transfer.nextCheck)
        let code = curl_multi_add_handle(multi, slot.easy)
        if code != CURLM_OK {
            end(transfer, transfer.failure(.unknown, message: String(cString: curl_multi_strerror(code))))
        }
    }

    // MARK: End

    /// Takes over what libcurl has finished; true where new transfers were started.
    private func takeMessages(_ multi: UnsafeMutableRawPointer) -> Bool {
        var left: Int32 = 0
        var startedAny = false
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let pointer = refrain_get_pointer(easy, CURLINFO_PRIVATE)
            else { continue }
            let slot = Unmanaged<EasyHandle>.fromOpaque(pointer).takeUnretainedValue()
            guard let transfer = slot.transfer else {
                releaseLookup(slot)
                continue
            }
            let result = message.pointee.data.result
            transfer.isLookingUp = false
            if transfer.mustStartOver(after: result) {
                startOver(transfer)
                startedAny = true
                continue
            }
            let error = transfer.outcome(of: result)
            if let isMultiplexed = transfer.isMultiplexed { transfer.host?.isMultiplexed = isMultiplexed }
            if transfer.stream.wantsHTTP1 { transfer.host?.wantsHTTP1 = true }
            transfer.host?.hasAnswered = error == nil
            transfer.host?.noteAnswer(size: transfer.wireSize)
            startedAny = end(transfer, error) || startedAny
        }
        return startedAny
    }

    /// Ends a transfer, with or without an error; true where another one was started in its place.
    @discardableResult
    func end(_ transfer: Transfer, _ error: HTTPError?) -> Bool {
        guard !transfer.isFinished else { return false }
        transfer.isFinished = true
        // The queue may go on to list it, and must not be kept by it: neither would ever be deallocated.
        defer { transfer.host = nil }
        guard let slot = transfer.slot, let host = transfer.host else {
            if transfer.isWaiting { transfer.host?.noteAbandoned() }
            ended.append(transfer, error)
            return false
        }
        if transfer.isDraining { host.removeDraining(transfer) }
        if let error {
            if transfer.noteFailedConnect(error.code) { host.addressMayBeStale = true }
        } else {
            host.addressMayBeStale = false
        }
        let isReusable = error == nil && !transfer.isAnsweredEarly && !transfer.spoilsConnection
        removeFromActive(transfer)
        transfer.slot = nil
        // libcurl may call back until it has released the handle; the transfer has ended.
        slot.transfer = nil
        ended.append(transfer, error)
        slot.isLookingUp = transfer.isLookingUp
        removable.append(HandleRemoval(slot: slot, host: host, wasSent: transfer.sends > 0, isReusable: isReusable))
        return removeEnded()
    }

    /// Takes the handles of ended transfers back from libcurl, so many at a time; true where others were started.
    @discardableResult
    private func removeEnded() -> Bool {
        var startedAny = false
        while removalsLeft > 0, let removal = removable.popLast() {
            removalsLeft -= 1
            removal.host.active -= 1
            if removal.wasSent { removal.host.sent -= 1 }
            if removal.slot.isLookingUp {
                leave(removal.slot)
            } else {
                takeBack(removal.slot)
                if removal.isReusable { idle.put(removal.slot) } else { retire(removal.slot) }
            }
            startedAny = startWaiting(removal.host) || startedAny
        }
        return startedAny
    }

    /// Starts transfers that wait for an origin while there is room; returns true if it started any.
    @discardableResult
    private func startWaiting(_ host: OriginQueue) -> Bool {
        var startedAny = false
        while host.hasRoom, host.hasWaiting {
            guard startsLeft > 0 else {
                list(host)
                break
            }
            guard let next = host.next() else { break }
            startedAny = true
            startsLeft -= 1
            start(next, host)
        }
        return startedAny
    }

    /// Sends a transfer of which nothing has left as yet on a new connection.
    private func startOver(_ transfer: Transfer) {
        guard !transfer.isFinished, let slot = transfer.slot, let host = transfer.host else { return }
        leave(transfer, slot, host)
        transfer.startOver()
        retire(slot)
        start(transfer, host)
        // Where it could not be started there is room.
        startWaiting(host)
    }

    /// Takes a transfer away from libcurl, and out of the count.
    private func leave(_ transfer: Transfer, _ slot: EasyHandle, _ host: OriginQueue) {
        takeBack(slot)
        removeFromActive(transfer)
        host.active -= 1
        if transfer.sends > 0 { host.sent -= 1 }
    }

    /// Tells the callers of all transfers that have ended since the last time.
    private func tellCallers() {
        round.wakeReaders()
        ended.tellCallers(now: now)
    }

    private func removeFromActive(_ transfer: Transfer) {
        if transfer.slot?.expectsHTTP2 == true { heldAnswers.transfers -= 1 }
        let last = active.removeLast()
        guard last !== transfer else { return }
        active[transfer.index] = last
        last.index = transfer.index
    }

    /// A handle whose transfer failed is not used again.
    ///
    /// Nor is one that was taken away from its transfer. libcurl leaves marks on it: after a body whose rewinding was
    /// refused, the next transfer fails before it is sent.
    private func retire(_ slot: EasyHandle) {
        slot.transfer = nil
        slot.free()
    }

    // MARK: Limits

    /// Ends transfers that have exceeded a limit, and computes the time of the next check; true where libcurl has to
    /// work at once.
    @discardableResult
    private func enforceLimits() -> Bool {
        nextLimit = .never
        var mustWork = false
        var late: [Transfer] = []
        var paused: [Transfer] = []
        for transfer in active + hosts.values.flatMap(\.all) {
            if transfer.limit <= now {
                late.append(transfer)
            } else {
                if transfer.handOverLimit <= now { transfer.handOver() }
                if transfer.opened.isToLook(now: now) { mustWork = true }
                nextLimit = min(nextLimit, transfer.nextCheck)
            }
            if transfer.isSendPaused { paused.append(transfer) }
        }
        for transfer in late {
            let failure = transfer.failure(.timedOut, message: transfer.whatTookTooLong)
            stop(transfer, transfer.isAnsweredEarly ? transfer.outcome(of: CURLE_OK) : failure)
        }
        for transfer in paused {
            if let result = transfer.resultOfVainWait() { end(transfer, transfer.outcome(of: result)) }
        }
        return mustWork
    }
}
