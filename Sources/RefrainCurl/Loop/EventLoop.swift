internal import CurlShim
internal import RefrainCore
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One thread that drives all transfers of a loader.
///
/// Everybody else only puts commands into the inbox, and wakes the thread. But when nothing is under way, the thread of
/// a caller drives its own request (``lead(_:_:)``).
final class EventLoop: @unchecked Sendable {
    // @unchecked Sendable: `inbox` has its lock; `multi` never changes, and curl_multi_wakeup may be called from any
    // thread; `driver`, and `multi` for all else, are touched only by whose turn it is, which the inbox says.
    let inbox = ConditionLock(CommandQueue())
    let multi: UnsafeMutableRawPointer?
    let driver: TransferDriver
    /// For how long a leader waits for its answer, in nanoseconds; the kernel may add 50,000.
    let leaderWait: MonotonicTime
    private let canBeWoken: Bool
    /// Jobs of tasks that prefer the loop's thread, which alone touches them.
    var jobs: [UnownedJob] = []
    /// Whether libcurl never waits for a name to be resolved.
    private let canBeLed = refrain_features() & CURL_VERSION_ASYNCHDNS != 0

    init(configuration: CurlLoader.Configuration, leaderWait: MonotonicTime = 40_000) {
        self.leaderWait = leaderWait
        multi = refrain_global_init() == CURLE_OK ? curl_multi_init() : nil
        if let multi { refrain_hide_wakeup_from_children(multi) }
        // Without free file descriptors libcurl makes a handle that cannot be woken; such a loop looks for itself.
        canBeWoken = multi.map { curl_multi_wakeup($0) == CURLM_OK } ?? false
        driver = TransferDriver(multi: multi, configuration: configuration)
        driver.loop = self
    }

    deinit {
        // The thread holds the loop while it runs: nothing uses the handle any more.
        guard let multi, refrain_begin_use() else { return }
        driver.freeHandles()
        keepingPipeAction { curl_multi_cleanup(multi) }
        refrain_end_use()
    }

    // MARK: From any thread

    /// Submits a transfer; the completion is called exactly once with its result.
    func submit(_ transfer: Transfer, _ completion: Completion) {
        transfer.submittedAt = .now
        let mayLead = canBeLed && transfer.isPlain
        switch inbox.withLock({ enter(transfer, completion, mayLead: mayLead, &$0) }) {
        case .waits(let how):
            wake(how)
        case .leads(let lead):
            self.lead(transfer, lead)
        case .refused(let code):
            let message =
                switch code {
                case .unknown: "there are no resources for a thread or its poll"
                case .unsupportedURL: CurlVersion.refusal
                default: nil as String?
                }
            transfer.owner = nil
            transfer.completion = completion
            transfer.finish(.failure(HTTPError(code, request: transfer.request, message: message, bytesSent: 0)))
        }
    }

    private enum Entry {
        case waits(CommandQueue.Wake)
        case leads(CommandQueue.Lead)
        case refused(HTTPError.Code)
    }

    private func enter(
        _ transfer: Transfer,
        _ completion: Completion,
        mayLead: Bool,
        _ inbox: inout CommandQueue
    ) -> Entry {
        guard inbox.phase != .stopping, inbox.phase != .stopped else { return .refused(.sessionInvalidated) }
        guard !transfer.wasCancelled else { return .refused(.cancelled) }
        if inbox.phase == .idle {
            // No attempt changes the library.
            guard CurlVersion.refusal == nil else { return .refused(.unsupportedURL) }
            guard begin(&inbox) else { return .refused(.unknown) }
        }
        transfer.completion = completion
        transfer.wasSubmitted = true
        if mayLead, let lead = inbox.lead() { return .leads(lead) }
        return .waits(inbox.add(.start(transfer)))
    }

    func cancel(_ transfer: Transfer) {
        wake(
            inbox.withLock { inbox in
                transfer.wasCancelled = true
                guard transfer.wasSubmitted, inbox.phase == .running else { return .not }
                return inbox.add(.cancel(transfer))
            }
        )
    }

    /// Tells the loop of something about a transfer that it has.
    func post(_ command: Command) {
        wake(inbox.withLock { inbox in inbox.phase == .running ? inbox.add(command) : .not })
    }

    func reset(_ continuation: UnsafeContinuation<Void, Never>) {
        let how = inbox.withLock { inbox in inbox.phase == .running ? inbox.add(.reset(continuation)) : nil }
        if let how { wake(how) } else { continuation.resume() }
    }

    func stop(_ continuation: UnsafeContinuation<Void, Never>? = nil) {
        let how: CommandQueue.Wake? = inbox.withLock { inbox in
            switch inbox.phase {
            case .idle, .stopped:
                inbox.phase = .stopped
                return nil
            case .running, .stopping:
                inbox.phase = .stopping
                return inbox.add(.stop(continuation))
            }
        }
        if let how { wake(how) } else { continuation?.resume() }
    }

    func wake(_ how: CommandQueue.Wake) {
        switch how {
        case .not: break
        case .fromPoll: if let multi { curl_multi_wakeup(multi) }
        case .toItsTurn: inbox.signal()
        }
    }

    /// Starts the thread; false where there is none to be had.
    func begin(_ inbox: inout CommandQueue) -> Bool {
        guard multi != nil, startThread() else { return false }
        inbox.phase = .running
        return true
    }

    private func startThread() -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        var everything = sigset_t()
        var previous = sigset_t()
        // Signals belong to the process's own threads; a new thread inherits the mask of the one that makes it.
        sigfillset(&everything)
        pthread_sigmask(SIG_SETMASK, &everything, &previous)
        defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
        let result = pthread_create(
            &thread,
            nil,
            { context in
                guard let context else { return nil }
                refrain_begin_use_or_wait()
                Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
                refrain_end_thread()
                return nil
            },
            context.toOpaque()
        )
        guard result == 0 else {
            context.release()
            return false
        }
        refrain_name_thread(thread, "refrain-curl")
        return true
    }

    // MARK: On the loop's thread

    /// How long the thread rests before it polls the sockets of paused transfers, in milliseconds.
    private static let restBeforePolling: Int32 = 1

    private func run() {
        guard let multi else { return }
        refrain_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        var commands: [Command] = []
        var stops: [UnsafeContinuation<Void, Never>] = []
        var lookout = AdaptiveSpin()
        while true {
            inbox.withLock { $0.take(into: &commands) }
            driver.now = .now
            var mustStop = false
            for command in commands {
                switch command {
                case .stop(let continuation):
                    mustStop = true
                    if let continuation { stops.append(continuation) }
                case .run(let job): jobs.append(job)
                default: driver.carryOut(command)
                }
            }
            commands.removeAll(keepingCapacity: commands.capacity < 1024)
            if mustStop { break }
            driver.drive()
            if !jobs.isEmpty { runJobs() }
            if driver.isIdle {
                let looksOut = driver.hadCompany || !canBeLed
                driver.hadCompany = false
                refrain_end_use()
                defer { refrain_begin_use_or_wait() }
                if !looksOut || !lookout.wait(until: { inbox.withLock { $0.hasCommands } }) {
                    inbox.wait(after: { $0.park() }, until: { $0.turn == .thread })
                }
                continue
            }
            guard inbox.withLock({ $0.prepareToPoll() }) else { continue }
            if driver.restsBeforePolling { poll(nil, 0, Self.restBeforePolling) }
            let wait = driver.pollTimeout()
            refrain_end_use()
            curl_multi_poll(multi, nil, 0, canBeWoken ? wait : Swift.min(wait, 5), nil)
            refrain_begin_use_or_wait()
        }
        driver.endAll(.sessionInvalidated, "the loader was shut down")
        driver.releaseLookups()
        inbox.withLock { inbox in
            inbox.phase = .stopped
            inbox.take(into: &commands)
        }
        refrain_set_current_loop(nil)
        for command in commands {
            if case .run(let job) = command { jobs.append(job) }
            if case .stop(let continuation?) = command { stops.append(continuation) }
        }
        leaveJobs()
        for stop in stops { stop.resume() }
    }
}
