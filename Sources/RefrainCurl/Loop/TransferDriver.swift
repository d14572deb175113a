internal import CurlShim
internal import RefrainHTTP

/// What the loop does, on the thread of whose turn it is: starts transfers, lets libcurl work, and ends them.
final class TransferDriver {
    /// The moment at which this round of the loop began.
    var now: Moment {
        get { round.now }
        set { round.now = newValue }
    }

    private var nextLimit: Moment {
        get { round.nextLimit }
        set { round.nextLimit = newValue }
    }

    /// The loop that this works for, for those who have something to tell it.
    weak var loop: EventLoop?

    /// Whether there were transfers that no caller could have driven by itself: several at a time, or streams.
    var hadCompany = false

    /// Whether any connection may speak TLS, to a server or to a proxy.
    private(set) var mayHaveTLS = false

    private let round = LoopRound()
    private let multi: UnsafeMutableRawPointer?
    private let configuration: CurlLoader.Configuration
    private let settings: EasySettings
    // Whoever drives is alone, and nothing that runs during an access to one of these comes back to it: no checks.
    @exclusivity(unchecked) private var active: [Transfer] = []
    /// By origin and not by name: libcurl, too, counts the connections of a host however it is spelled.
    private var hosts: [Origin?: HostQueue] = [:]
    @exclusivity(unchecked) private var lastHost: (name: String, queue: HostQueue)?
    @exclusivity(unchecked) private var idleSlots: [EasySlot] = []
    /// Transfers that have ended, but whose callers do not know yet.
    @exclusivity(unchecked) private var ended: [(Transfer, HTTPError?)] = []

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
        refrain_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, HostQueue.streamsPerConnection)
    }

    /// How long nothing needs to be done unless something happens.
    var pollTimeout: Int32 { Moment.now.millisecondsUntil(nextLimit) }

    /// Whether nothing is under way.
    var isIdle: Bool { active.isEmpty }

    /// Whether there is likely to be a connection for this transfer.
    func expectsConnection(for transfer: Transfer) -> Bool { queue(for: transfer).hasAnswered }

    func carryOut(_ command: Command) {
        switch command {
        case .start(let transfer): enqueue(transfer)
        case .cancel(let transfer): end(transfer, transfer.failure(.cancelled, message: "the task was cancelled"))
        case .resume(let transfer): resume(transfer)
        case .discard(let transfer): discard(transfer)
        case .reset(let continuation):
            endAll(.cancelled, "the loader was reset")
            continuation.resume()
        case .stop: break
        }
    }

    /// Lets libcurl work until nothing is left to do but to wait.
    func drive() {
        tellCallers()
        guard let multi else { return }
        var mustGoOn = true
        while mustGoOn {
            var running: Int32 = 0
            curl_multi_perform(multi, &running)
            now = .now
            mustGoOn = takeMessages(multi)
            if now >= nextLimit { enforceLimits() }
            tellCallers()
        }
    }

    /// Ends all transfers, those under way and those that wait.
    func endAll(_ code: HTTPError.Code, _ message: String) {
        let waiting = hosts.values.flatMap(\.all)
        for transfer in waiting { end(transfer, transfer.failure(code, message: message)) }
        for transfer in active { end(transfer, transfer.failure(code, message: message)) }
        tellCallers()
    }

    func freeHandles() {
        for slot in idleSlots { slot.free() }
        idleSlots = []
    }

    // MARK: Beginning

    private func enqueue(_ transfer: Transfer) {
        // What has ended must not be sent.
        guard !transfer.isFinished else { return }
        transfer.begin(round)
        let queue = queue(for: transfer)
        transfer.host = queue
        nextLimit = min(nextLimit, transfer.nextCheck)
        if queue.hasRoom {
            start(transfer, queue)
        } else {
            transfer.isWaiting = true
            queue.append(transfer)
        }
    }

    private func queue(for transfer: Transfer) -> HostQueue {
        if let lastHost, transfer.goes(to: lastHost.name) { return lastHost.queue }
        let origin = transfer.request.origin
        if hosts.count > 1024 { hosts = hosts.filter { !$0.value.isUnused } }
        let queue = hosts[origin] ?? HostQueue(connections: configuration.maximumConnectionsPerHost)
        hosts[origin] = queue
        lastHost = (transfer.hostName, queue)
        return queue
    }

    private func start(_ transfer: Transfer, _ queue: HostQueue) {
        let rule: TrustRule
        do throws(HTTPError) {
            rule = try settings.rule(for: transfer.request)
        } catch {
            end(transfer, error)
            return
        }
        guard let multi, let slot = takeIdleSlot(rule) ?? EasySlot(settings, rule) else {
            end(transfer, transfer.failure(.unknown, message: "there is no memory for a transfer"))
            return
        }
        do throws(HTTPError) {
            try slot.prepare(transfer)
        } catch {
            recycle(slot)
            end(transfer, error)
            return
        }
        transfer.slot = slot
        queue.active += 1
        transfer.index = active.count
        active.append(transfer)
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
                let pointer = refrain_get_pointer(easy, CURLINFO_PRIVATE),
                let transfer = Unmanaged<EasySlot>.fromOpaque(pointer).takeUnretainedValue().transfer
            else { continue }
            let result = message.pointee.data.result
            if transfer.mustStartOver(after: result) {
                startOver(transfer)
                startedAny = true
                continue
            }
            let error = transfer.outcome(of: result)
            if let isMultiplexed = transfer.isMultiplexed { transfer.host?.isMultiplexed = isMultiplexed }
            transfer.host?.hasAnswered = error == nil
            startedAny = end(transfer, error) || startedAny
        }
        return startedAny
    }

    /// Ends a transfer, with or without an error; true where another one was started in its place.
    @discardableResult
    func end(_ transfer: Transfer, _ error: HTTPError?) -> Bool {
        guard !transfer.isFinished else { return false }
        transfer.isFinished = true
        guard let slot = transfer.slot, let host = transfer.host else {
            if transfer.isWaiting { transfer.host?.noteAbandoned() }
            ended.append((transfer, error))
            return false
        }
        leave(transfer, slot, host)
        transfer.slot = nil
        ended.append((transfer, error))
        if error == nil, !transfer.isAnsweredEarly, !transfer.spoilsConnection { recycle(slot) } else { retire(slot) }
        return startWaiting(host)
    }

    /// Starts those who wait for an origin, as long as there is room; true where there were any.
    @discardableResult
    private func startWaiting(_ host: HostQueue) -> Bool {
        var startedAny = false
        while host.hasRoom, let next = host.next() {
            startedAny = true
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
    private func leave(_ transfer: Transfer, _ slot: EasySlot, _ host: HostQueue) {
        if let multi { curl_multi_remove_handle(multi, slot.easy) }
        removeFromActive(transfer)
        host.active -= 1
        if transfer.sends > 0 { host.sent -= 1 }
    }

    /// Tells the callers of all transfers that have ended since the last time.
    ///
    /// They are told one right after the other: the first one wakes a thread, which finds the others in its queue.
    private func tellCallers() {
        round.wakeReaders()
        guard !ended.isEmpty else { return }
        for (transfer, error) in ended { transfer.complete(error) }
        ended.removeAll(keepingCapacity: ended.capacity < 1024)
    }

    private func removeFromActive(_ transfer: Transfer) {
        let last = active.removeLast()
        guard last !== transfer else { return }
        active[transfer.index] = last
        last.index = transfer.index
    }

    /// A handle that asks the same of servers; what it asks cannot be taken back.
    private func takeIdleSlot(_ rule: TrustRule) -> EasySlot? {
        guard let index = idleSlots.lastIndex(where: { $0.trust == rule }) else { return nil }
        return idleSlots.remove(at: index)
    }

    private func recycle(_ slot: EasySlot) {
        slot.transfer = nil
        if idleSlots.count < 256 { idleSlots.append(slot) } else { slot.free() }
    }

    /// A handle whose transfer failed is not used again.
    ///
    /// Nor is one that was taken away from its transfer. libcurl leaves marks on it: after a body whose rewinding was
    /// refused, the next transfer fails before it is sent.
    private func retire(_ slot: EasySlot) {
        slot.transfer = nil
        slot.free()
    }

    /// Nobody reads the response: what little is left of it is swallowed so that the connection lives (rule R28).
    private func discard(_ transfer: Transfer) {
        guard !transfer.isFinished else { return }
        guard transfer.canBeDrained else {
            end(transfer, transfer.failure(.cancelled, message: "the body was dropped unread"))
            return
        }
        transfer.isDraining = true
        transfer.drainLimit = now.after(.seconds(2))
        nextLimit = min(nextLimit, transfer.drainLimit)
        resume(transfer)
    }

    /// Goes on with a transfer; libcurl forgets what its callers refuse now, and would go on behind it.
    private func resume(_ transfer: Transfer) {
        let result = transfer.unpause()
        if result != CURLE_OK { end(transfer, transfer.outcome(of: result)) }
    }

    // MARK: Limits

    /// Ends those who ran out of time, and finds out when to look again.
    private func enforceLimits() {
        nextLimit = .never
        var late: [Transfer] = []
        var paused: [Transfer] = []
        for transfer in active + hosts.values.flatMap(\.all) {
            if transfer.limit <= now { late.append(transfer) } else { nextLimit = min(nextLimit, transfer.nextCheck) }
            if transfer.isSendPaused { paused.append(transfer) }
        }
        for transfer in late {
            let failure = transfer.failure(.timedOut, message: transfer.whatTookTooLong)
            end(transfer, transfer.isAnsweredEarly ? transfer.outcome(of: CURLE_OK) : failure)
        }
        for transfer in paused {
            if let result = transfer.look() { end(transfer, transfer.outcome(of: result)) }
        }
    }
}
