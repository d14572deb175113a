// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainCore
internal import RefrainHTTP

/// Starts transfers, calls libcurl to perform them, and ends them; used only by the owner of the loop.
final class TransferDriver {
    /// When this iteration of the loop began.
    var now: MonotonicTime {
        get { iteration.now }
        set { iteration.now = newValue }
    }

    /// No transfer exceeds a limit before this time.
    var nextLimit: MonotonicTime {
        get { iteration.nextLimit }
        set { iteration.nextLimit = newValue }
    }

    /// The loop of this driver.
    weak var loop: EventLoop?

    /// Whether there were transfers that no caller could have driven itself: several at a time, or streams.
    var hadOtherTransfers = false

    /// Whether jobs have blocked the thread for so long that limits may have passed before it read its sockets.
    var wasBlocked = false

    /// Whether any connection may use TLS, to a server or to a proxy.
    private(set) var mayHaveTLS = false

    private let iteration = LoopIteration()
    private let multi: UnsafeMutableRawPointer?
    private let configuration: CurlLoader.Configuration
    private let settings: EasySettings
    @exclusivity(unchecked) private var active: [Transfer] = []
    private var heldAnswers = HeldAnswers()
    /// By origin rather than by name: libcurl also counts the connections of a host independently of its spelling.
    private var hosts: [Origin?: OriginQueue] = [:]
    /// The number of origins from which on those without requests are forgotten.
    private var maximumHosts = TransferDriver.hosts
    private static let hosts = 4096
    private var lastHost: (name: String, queue: OriginQueue)?
    private var idle = IdleHandles()
    private var ended = EndedTransfers()
    /// The queues of requests that wait only for the next iteration.
    private var startable: [OriginQueue] = []
    /// The handles of ended transfers that are still in the multi handle.
    private var removable: [HandleRemoval] = []
    /// The transfers whose names were not found, by the names that are looked up again.
    private var unresolved: [String: [Transfer]] = [:]
    /// The handles whose transfers have ended, and whose name lookups continue.
    private var lookups: [EasyHandle] = []
    /// The sockets of many transfers, once there were many.
    private(set) var poller: OpaquePointer?
    /// Whether libcurl is called only for transfers whose sockets are ready.
    private(set) var pollsSockets = false
    /// Whether it must be called for all of them once.
    private var mustPerformAll = false
    /// The number of connections that libcurl keeps at present.
    private var connectionLimit = 0
    /// Three quarters of the files that the process may open.
    private let openFiles = Int(clamping: refrain_open_files()) / 4 * 3
    /// How many transfers may be started, and removed, before libcurl is called and limits are checked again.
    private var startsLeft = TransferDriver.transfersPerIteration
    private var removalsLeft = TransferDriver.transfersPerIteration

    /// libcurl (7.88) visits all connections to a host when a transfer to it is added or removed: with 10,000
    /// connections the other transfers would exceed their limits by seconds.
    private static let transfersPerIteration = 64

    init(multi: UnsafeMutableRawPointer?, configuration: CurlLoader.Configuration) {
        self.multi = multi
        self.configuration = configuration
        settings = EasySettings(configuration)
        mayHaveTLS = settings.mayUseProxy
        guard let multi else { return }
        if !settings.mayUseProxy {
            // The queues enforce this limit themselves, unless a server accepts fewer streams per connection than they
            // start. libcurl treats all origins behind a proxy that is not a tunnel as one host.
            refrain_multi_set_long(multi, CURLMOPT_MAX_HOST_CONNECTIONS, configuration.maximumConnectionsPerHost)
        }
        refrain_multi_set_long(multi, CURLMOPT_PIPELINING, Int(CURLPIPE_MULTIPLEX))
        refrain_multi_set_long(multi, CURLMOPT_MAX_CONCURRENT_STREAMS, OriginQueue.streamsPerConnection)
    }

    /// Returns how long to wait for sockets, in milliseconds.
    func pollTimeout() -> Int32 {
        defer { iteration.hadActivity = false }
        guard startable.isEmpty, removable.isEmpty else { return 0 }
        let untilLimit = MonotonicTime.now.millisecondsUntil(nextLimit)
        let wait = heldAnswers.shorten(untilLimit, hadActivity: iteration.hadActivity)
        return isSlowed ? min(wait, 100) : wait
    }

    /// Whether transfers have a limit on their rate.
    ///
    /// libcurl (7.88) can forget when a transfer that it has slowed down goes on; a call for all of them tells it.
    private var isSlowed: Bool { configuration.overrides.bytesPerSecond != nil }

    /// Whether the thread sleeps before it polls, because the poll would return immediately.
    var sleepsBeforePolling: Bool { CurlVersion.pollsPausedSockets && active.contains { $0.response.isPaused } }

    /// Whether there is nothing to do.
    var isIdle: Bool { active.isEmpty && startable.isEmpty && removable.isEmpty && lookups.isEmpty }

    /// Whether an open connection for this transfer is likely.
    func expectsConnection(for transfer: Transfer) -> Bool { queue(for: transfer).hasAnswered }

    func carryOut(_ command: Command) {
        switch command {
        case .start(let transfer): enqueue(transfer)
        case .cancel(let transfer):
            // The response of one that has ended is its receiver's.
            guard !transfer.isFinished else { return }
            stop(transfer, transfer.failure(.cancelled, message: "the task was cancelled"))
        case .resume(let transfer): resume(transfer)
        case .discard(let transfer): discard(transfer)
        case .lookedUp(let name, let result): endLookup(of: name, result)
        case .reset(let continuation):
            endAll(.cancelled, "the loader was reset")
            continuation.resume()
        case .run, .stop: break
        }
    }

    /// Calls libcurl until there is nothing to do but to wait.
    func drive() {
        completeAll()
        guard let multi else { return }
        var mustGoOn = true
        while mustGoOn {
            // Limits come first: a transfer that has exceeded one must not be started. If the thread was blocked,
            // libcurl comes first, because data may have arrived in time.
            if now >= nextLimit, !wasBlocked {
                enforceLimits()
                completeAll()
            }
            wasBlocked = false
            startsLeft = Self.transfersPerIteration
            removalsLeft = Self.transfersPerIteration
            removeEnded()
            startListed()
            var running: Int32 = 0
            limitConnections(multi)
            choosePolling()
            refrain_watch_enter(iteration.watch)
            keepingPipeAction {
                if let poller, pollsSockets {
                    refrain_poller_perform(poller, mustPerformAll, &running)
                    mustPerformAll = false
                } else {
                    curl_multi_perform(multi, &running)
                }
            }
            refrain_watch_exit(iteration.watch)
            now = .now
            mustGoOn = takeMessages(multi)
            if iteration.hasFailedSocket {
                iteration.hasFailedSocket = false
                (mustGoOn, mustPerformAll) = (true, true)
            }
            if now >= nextLimit, enforceLimits() { (mustGoOn, mustPerformAll) = (true, true) }
            if mustGoOn, ended.mayGrow(now: now) { continue }
            completeAll()
        }
    }

    /// Chooses between calling libcurl for all transfers, and only for those whose sockets are ready.
    ///
    /// The latter costs more for each event, and less for each transfer that waits. Over HTTP/2 libcurl (7.88) keeps
    /// data of other transfers that only a call for all of them delivers.
    private func choosePolling() {
        let count = heldAnswers.transfers > 0 || isSlowed ? 0 : active.count
        guard count >= (pollsSockets ? Self.fewTransfers : Self.manyTransfers) else {
            pollsSockets = false
            return
        }
        guard !pollsSockets, let multi else { return }
        if poller == nil { poller = refrain_poller_make(multi) }
        pollsSockets = poller != nil
        mustPerformAll = true
    }

    /// Waits for the sockets of the transfers for at most so many milliseconds.
    func waitForSockets(_ milliseconds: Int32) {
        if let poller { refrain_poller_wait(poller, milliseconds) }
    }

    /// The number of transfers from which on libcurl is called only for those whose sockets are ready, and the number
    /// below which it is called for all again.
    private static let (manyTransfers, fewTransfers) = (512, 256)

    /// Sets how many connections libcurl keeps: as many as are in use, and those that may be idle.
    ///
    /// libcurl counts both. With a limit for idle ones alone it would close a connection after each request while many
    /// are in use.
    private func limitConnections(_ multi: UnsafeMutableRawPointer) {
        let sum = active.count.addingSaturated(max(1, configuration.maximumIdleConnections))
        let limit = max(1, min(sum, openFiles))
        guard limit != connectionLimit else { return }
        connectionLimit = limit
        refrain_multi_set_long(multi, CURLMOPT_MAXCONNECTS, limit)
    }

    /// Whether there are connections that become too old while no transfer is active.
    var hasConnections: Bool { !iteration.connections.isEmpty }

    /// Closes the connections that have been idle for too long, which libcurl itself does only for another request.
    func closeOldConnections() {
        guard let multi, hasConnections, let easy = curl_easy_init() else { return }
        // A request that is refused before it connects: libcurl looks for connections that are too old before that.
        refrain_set_pointer(easy, CURLOPT_URL, "http://127.0.0.1:1/")
        refrain_set_pointer(easy, CURLOPT_NOPROXY, "*")
        refrain_set_long(easy, CURLOPT_NOSIGNAL, 1)
        refrain_set_long(easy, CURLOPT_MAXAGE_CONN, settings.longestAge)
        refrain_set_callbacks(easy, { _, _, _, _ in 0 }, { _, _, _, _ in 0 }, nil, nil, { _, _, _ in -1 }, nil)
        var running: Int32 = 0
        if curl_multi_add_handle(multi, easy) == CURLM_OK {
            keepingPipeAction {
                curl_multi_perform(multi, &running)
                curl_multi_remove_handle(multi, easy)
            }
        }
        curl_easy_cleanup(easy)
    }

    /// For how many nanoseconds a connection may be idle, with a margin for libcurl's whole seconds.
    var longestIdle: Int64 { Int64(settings.longestAge) * 1_000_000_000 + 1_500_000_000 }

    /// Ends all transfers, active and waiting.
    func endAll(_ code: HTTPError.Code, _ message: String) {
        let waiting = hosts.values.flatMap(\.all)
        for transfer in waiting { end(transfer, transfer.failure(code, message: message)) }
        for transfer in active { end(transfer, transfer.failure(code, message: message)) }
        completeAll()
        removalsLeft = .max
        removeEnded()
    }

    func freeHandles() { idle.free() }

    /// Frees the poller, after libcurl has closed all connections.
    func freePoller() { refrain_poller_free(poller) }

    // MARK: Beginning

    private func enqueue(_ transfer: Transfer) {
        // A transfer that has ended must not be sent.
        guard !transfer.isFinished else { return }
        transfer.begin(iteration)
        let queue = queue(for: transfer)
        transfer.host = queue
        nextLimit = min(nextLimit, transfer.nextCheck)
        // A request that waits takes precedence over a connection that is kept for later ones (rule R28).
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

    /// Adds a queue to those with requests to start.
    private func list(_ queue: OriginQueue) {
        guard !queue.isListed else { return }
        queue.isListed = true
        startable.append(queue)
    }

    /// Starts the requests that waited only for this iteration.
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
        if let lastHost, transfer.url.hasOrigin(lastHost.name) { return lastHost.queue }
        let origin = transfer.request.origin
        let queue: OriginQueue
        if let known = hosts[origin] {
            queue = known
        } else {
            if hosts.count >= maximumHosts {
                hosts = hosts.filter { !$0.value.isUnused }
                maximumHosts = max(Self.hosts, 2 * hosts.count)
            }
            queue = OriginQueue(connections: configuration.maximumConnectionsPerHost)
            hosts[origin] = queue
        }
        lastHost = (transfer.url.origin, queue)
        return queue
    }

    private func start(_ transfer: Transfer, _ queue: OriginQueue) {
        let options: TLSOptions
        do throws(HTTPError) {
            options = try settings.tlsOptions(for: transfer.request)
        } catch {
            end(transfer, error)
            return
        }
        guard let multi, let handle = idle.take(options) ?? EasyHandle(settings, options, iteration) else {
            end(transfer, transfer.failure(.unknown, message: "there is no memory for a transfer"))
            return
        }
        do throws(HTTPError) {
            try handle.prepare(transfer)
        } catch {
            idle.put(handle)
            end(transfer, error)
            return
        }
        transfer.handle = handle
        queue.active += 1
        transfer.index = active.count
        active.append(transfer)
        if handle.expectsHTTP2 { heldAnswers.transfers += 1 }
        if active.count > 1 || !transfer.isPlain { hadOtherTransfers = true }
        if transfer.url.isTLS { mayHaveTLS = true }
        transfer.start()
        if !transfer.upload.isAbsent, let loop { transfer.upload.onData { loop.post(.resume(transfer)) } }
        nextLimit = min(nextLimit, transfer.nextCheck)
        let code = curl_multi_add_handle(multi, handle.easy)
        if code != CURLM_OK {
            end(transfer, transfer.failure(.unknown, message: String(cString: curl_multi_strerror(code))))
        }
    }

    // MARK: End

    /// Ends the transfers that libcurl has finished; returns true if others were started.
    private func takeMessages(_ multi: UnsafeMutableRawPointer) -> Bool {
        var left: Int32 = 0
        var startedAny = false
        while let message = curl_multi_info_read(multi, &left) {
            guard message.pointee.msg == CURLMSG_DONE, let easy = message.pointee.easy_handle,
                let pointer = refrain_get_pointer(easy, CURLINFO_PRIVATE)
            else { continue }
            let handle = Unmanaged<EasyHandle>.fromOpaque(pointer).takeUnretainedValue()
            guard let transfer = handle.transfer else {
                releaseLookup(handle)
                continue
            }
            let result = message.pointee.data.result
            transfer.noteEndOfLookup()
            if result == CURLE_COULDNT_RESOLVE_HOST, !transfer.connecting.wasLookedUpAgain, lookUpAgain(transfer) {
                continue
            }
            if transfer.mustStartOver(after: result) {
                startOver(transfer)
                startedAny = true
                continue
            }
            let error = transfer.outcome(of: result)
            if let isMultiplexed = transfer.isMultiplexed { transfer.host?.isMultiplexed = isMultiplexed }
            if transfer.sending.stream.wantsHTTP1 { transfer.host?.wantsHTTP1 = true }
            transfer.host?.hasAnswered = error == nil
            transfer.host?.noteAnswer(size: transfer.response.wireSize)
            startedAny = end(transfer, error) || startedAny
        }
        return startedAny
    }

    /// Ends a transfer, with or without an error; returns true if another one was started.
    @discardableResult
    func end(_ transfer: Transfer, _ error: HTTPError?) -> Bool {
        guard !transfer.isFinished else { return false }
        transfer.isFinished = true
        // The queue may still list the transfer; a reference back would be a cycle.
        defer { transfer.host = nil }
        guard let handle = transfer.handle, let host = transfer.host else {
            if transfer.isWaiting { transfer.host?.noteAbandoned() }
            ended.append(transfer, error)
            return false
        }
        if transfer.response.isDraining { host.removeDraining(transfer) }
        if let error {
            if transfer.noteFailedConnect(error.code) { host.addressMayBeStale = true }
        } else {
            host.addressMayBeStale = false
        }
        transfer.noteEndOfExchange()
        let isReusable = error == nil && !transfer.isAnsweredEarly && !transfer.spoilsConnection
        removeFromActive(transfer)
        transfer.handle = nil
        // libcurl may call callbacks until the handle is removed; they find no transfer.
        handle.transfer = nil
        ended.append(transfer, error)
        handle.isLookingUp = transfer.connecting.isLookingUp
        let wasSent = transfer.sending.sends > 0
        let removal = HandleRemoval(handle: handle, host: host, wasSent: wasSent, isReusable: isReusable)
        guard removalsLeft > 0 else {
            removable.append(removal)
            return false
        }
        return carryOut(removal)
    }

    /// Removes handles of ended transfers from libcurl, up to the limit of an iteration; returns true if other
    /// transfers were started.
    @discardableResult
    private func removeEnded() -> Bool {
        var startedAny = false
        while removalsLeft > 0, let removal = removable.popLast() { startedAny = carryOut(removal) || startedAny }
        return startedAny
    }

    /// Removes the handle of an ended transfer from libcurl; returns true if other transfers were started.
    private func carryOut(_ removal: HandleRemoval) -> Bool {
        removalsLeft -= 1
        removal.host.active -= 1
        if removal.wasSent { removal.host.sent -= 1 }
        if removal.handle.isLookingUp {
            keepForLookup(removal.handle)
        } else {
            remove(removal.handle)
            if removal.isReusable { idle.put(removal.handle) } else { retire(removal.handle) }
        }
        return startWaiting(removal.host)
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

    /// Sends a transfer, of which no byte has been sent, on a new connection.
    private func startOver(_ transfer: Transfer) {
        guard !transfer.isFinished, let handle = transfer.handle, let host = transfer.host else { return }
        removeFromLibcurl(transfer, handle, host)
        transfer.startOver()
        retire(handle)
        start(transfer, host)
        // If it could not be started, another transfer can.
        startWaiting(host)
    }

    /// Removes an active transfer from libcurl, and from the counts of its origin.
    private func removeFromLibcurl(_ transfer: Transfer, _ handle: EasyHandle, _ host: OriginQueue) {
        remove(handle)
        removeFromActive(transfer)
        host.active -= 1
        if transfer.sending.sends > 0 { host.sent -= 1 }
    }

    /// Completes all transfers that have ended since the last call, after delivering data to waiting readers.
    private func completeAll() {
        iteration.wakeReaders()
        ended.completeAll(now: now)
    }

    private func removeFromActive(_ transfer: Transfer) {
        if transfer.handle?.expectsHTTP2 == true { heldAnswers.transfers -= 1 }
        let last = active.removeLast()
        guard last !== transfer else { return }
        active[transfer.index] = last
        last.index = transfer.index
    }

    /// Frees a handle whose transfer failed or started over; it is not reused.
    ///
    /// It retains state of libcurl's: after a rewind of a body was refused, the next transfer fails before it is sent.
    private func retire(_ handle: EasyHandle) {
        handle.transfer = nil
        handle.free()
    }

    // MARK: Limits

    /// Ends transfers that have exceeded a limit, and computes the time of the next check; returns true if libcurl must
    /// be called immediately.
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
                if transfer.limits.handOver <= now { transfer.handOver() }
                if transfer.mustTryNextAddress() { mustWork = true }
                nextLimit = min(nextLimit, transfer.nextCheck)
            }
            if transfer.upload.isPaused { paused.append(transfer) }
        }
        for transfer in late {
            let failure = transfer.failure(.timedOut, message: transfer.timeoutMessage)
            stop(transfer, transfer.isAnsweredEarly ? transfer.outcome(of: CURLE_OK) : failure)
        }
        for transfer in paused {
            if let result = transfer.resultWhilePaused() { end(transfer, transfer.outcome(of: result)) }
        }
        return mustWork
    }
}

// MARK: Readers of bodies

extension TransferDriver {
    /// Called when the response will not be read: reads a short rest so that the connection can be reused.
    private func discard(_ transfer: Transfer) {
        guard !transfer.isFinished else { return }
        guard transfer.beginDraining() else {
            end(transfer, transfer.failure(.cancelled, message: "the body was dropped unread"))
            return
        }
        transfer.host?.appendDraining(transfer)
        resume(transfer)
    }

    /// Resumes a paused transfer, and ends it if a callback fails meanwhile.
    ///
    /// libcurl ignores the error of a callback that it calls here, and would continue with the transfer.
    private func resume(_ transfer: Transfer) {
        let result = transfer.unpause()
        if result != CURLE_OK { end(transfer, transfer.outcome(of: result)) }
    }
}

// MARK: Silent connections

extension TransferDriver {
    /// Ends a transfer that libcurl has not ended.
    ///
    /// If the peer acknowledges none of the data that was sent, the connection is dead, which TCP itself reports after
    /// a quarter of an hour. Until then libcurl would send all requests to that origin on the same HTTP/2 connection,
    /// or on another one that died at the same time, as all do when a router has lost their state: each of these
    /// requests, and each further attempt, would time out.
    private func stop(_ transfer: Transfer, _ error: HTTPError?) {
        if transfer.sending.sends > 0, !transfer.isFinished, let connection = transfer.sending.connection {
            let silence = connection.silence(since: transfer.limits.lastActivity, now: now)
            if silence > 0 { abandon(connection, after: transfer, silence) }
        }
        end(transfer, error)
    }

    private func abandon(_ connection: OpenConnection, after transfer: Transfer, _ silence: Int) {
        transfer.host?.noteSilence(since: transfer.submittedAt)
        let isShared = active.contains { $0 !== transfer && $0.sending.connection === connection }
        // The other requests may have longer limits, and the network may recover.
        if !isShared || silence >= Self.longestSilence { connection.end() }
    }

    /// The silence in milliseconds from which on a connection is ended although it carries other requests.
    private static let longestSilence = 10_000
}

// MARK: Name lookups

extension TransferDriver {
    /// Removes a handle from libcurl's multi handle.
    private func remove(_ handle: EasyHandle) {
        guard let multi else { return }
        keepingPipeAction { curl_multi_remove_handle(multi, handle.easy) }
    }

    /// Keeps a handle in the multi handle until its name lookup has finished.
    ///
    /// libcurl caches the result for other transfers that look up the same name, and for the next attempt. A resolver
    /// that queries several servers in turn may take longer than the connect timeout of an attempt; if each attempt
    /// cancelled the lookup, none would finish. It also avoids that libcurl (before 7.87) blocks until the lookup ends.
    private func keepForLookup(_ handle: EasyHandle) {
        handle.leaveLookup()
        lookups.append(handle)
    }

    /// Removes and frees a handle whose lookup has finished.
    private func releaseLookup(_ handle: EasyHandle) {
        guard let index = lookups.firstIndex(where: { $0 === handle }) else { return }
        lookups.swapAt(index, lookups.count - 1)
        lookups.removeLast()
        handle.isLookingUp = false
        remove(handle)
        handle.free()
    }

    /// Looks a name up again that libcurl has not found, because libcurl does not say why; returns false if that is not
    /// possible.
    ///
    /// A name that does not exist will not exist a second later either. A name server that has failed or cannot be
    /// reached (while a machine starts, or its network changes) may be back in seconds.
    private func lookUpAgain(_ transfer: Transfer) -> Bool {
        guard let loop, let name = transfer.nameToLookUp else { return false }
        transfer.noteSecondLookup()
        if unresolved[name] != nil {
            unresolved[name]?.append(transfer)
            return true
        }
        guard unresolved.count < Self.maximumLookups else { return false }
        let hasThread = runThread { loop.post(.lookedUp(name, refrain_look_up(name))) }
        // libcurl fails in the same way without a thread for its own lookup.
        guard hasThread else {
            transfer.noteNameServers(areSilent: true)
            return false
        }
        unresolved[name] = [transfer]
        return true
    }

    /// Ends the transfers to a name that was looked up again.
    private func endLookup(of name: String, _ result: refrain_name_result) {
        for transfer in unresolved.removeValue(forKey: name) ?? [] {
            // Now found, it was the name server that had failed.
            transfer.noteNameServers(areSilent: result != REFRAIN_NAME_UNKNOWN)
            end(transfer, transfer.outcome(of: CURLE_COULDNT_RESOLVE_HOST))
        }
    }

    /// The maximum number of names that are looked up again at a time.
    private static let maximumLookups = 16

    /// Releases all of these handles, at the end of the loop only: libcurl may block until the lookups end.
    func releaseLookups() {
        while let handle = lookups.last { releaseLookup(handle) }
    }
}
