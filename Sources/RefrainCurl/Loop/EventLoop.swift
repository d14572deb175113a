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
/// Everybody else only puts commands into the inbox, and wakes the thread.
final class EventLoop: @unchecked Sendable {
    // @unchecked Sendable: `inbox` has its lock; `multi` never changes, and curl_multi_wakeup may be called from any
    // thread; `driver` is touched by the loop's thread alone.
    private let inbox = Locked(Inbox())
    private let multi: UnsafeMutableRawPointer?
    private let canBeWoken: Bool
    private let driver: TransferDriver

    init(configuration: CurlLoader.Configuration) {
        multi = refrain_global_init() == CURLE_OK ? curl_multi_init() : nil
        // Without free file descriptors libcurl makes a handle that cannot be woken; such a loop looks for itself.
        canBeWoken = multi.map { curl_multi_wakeup($0) == CURLM_OK } ?? false
        driver = TransferDriver(multi: multi, configuration: configuration)
        driver.loop = self
    }

    deinit {
        // The thread holds the loop while it runs: nothing uses the handle any more.
        driver.freeHandles()
        if let multi { curl_multi_cleanup(multi) }
    }

    // MARK: From any thread

    /// Takes a request over; the continuation is resumed exactly once.
    func submit(_ transfer: Transfer, _ continuation: UnsafeContinuation<HTTPResult, Never>) {
        transfer.submittedAt = .now
        let (refusal, mustWake): (HTTPError.Code?, Bool) = inbox.withLock { inbox in
            guard inbox.phase != .stopping, inbox.phase != .stopped else { return (.sessionInvalidated, false) }
            guard !transfer.wasCancelled else { return (.cancelled, false) }
            if inbox.phase == .idle {
                guard multi != nil, startThread() else { return (.unknown, false) }
                inbox.phase = .running
            }
            transfer.continuation = continuation
            transfer.wasSubmitted = true
            return (nil, inbox.add(.start(transfer)))
        }
        if let refusal {
            let message = refusal == .unknown ? "there are no resources for a thread or its poll" : nil
            transfer.owner = nil
            continuation.resume(
                returning: .failure(HTTPError(refusal, request: transfer.request, message: message, bytesSent: 0))
            )
        } else if mustWake {
            wake()
        }
    }

    func cancel(_ transfer: Transfer) {
        let mustWake = inbox.withLock { inbox in
            transfer.wasCancelled = true
            return transfer.wasSubmitted && inbox.phase == .running && inbox.add(.cancel(transfer))
        }
        if mustWake { wake() }
    }

    /// Tells the loop of something about a transfer that it has.
    func post(_ command: Command) {
        let mustWake = inbox.withLock { inbox in inbox.phase == .running && inbox.add(command) }
        if mustWake { wake() }
    }

    func reset(_ continuation: UnsafeContinuation<Void, Never>) {
        let (isRunning, mustWake) = inbox.withLock { inbox in
            let isRunning = inbox.phase == .running
            return (isRunning, isRunning && inbox.add(.reset(continuation)))
        }
        if !isRunning { continuation.resume() }
        if mustWake { wake() }
    }

    func stop(_ continuation: UnsafeContinuation<Void, Never>? = nil) {
        let (isDone, mustWake) = inbox.withLock { inbox in
            switch inbox.phase {
            case .idle, .stopped:
                inbox.phase = .stopped
                return (true, false)
            case .running, .stopping:
                inbox.phase = .stopping
                return (false, inbox.add(.stop(continuation)))
            }
        }
        if isDone { continuation?.resume() }
        if mustWake { wake() }
    }

    private func wake() {
        if let multi { curl_multi_wakeup(multi) }
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
                Unmanaged<EventLoop>.fromOpaque(context).takeRetainedValue().run()
                return nil
            },
            context.toOpaque()
        )
        guard result == 0 else {
            context.release()
            return false
        }
        refrain_name_thread(thread, "refrain-curl")
        pthread_detach(thread)
        return true
    }

    // MARK: On the loop's thread

    private func run() {
        guard let multi else { return }
        var commands: [Command] = []
        var stops: [UnsafeContinuation<Void, Never>] = []
        var patience = Patience()
        while true {
            inbox.withLock { $0.take(into: &commands) }
            driver.now = .now
            var mustStop = false
            for command in commands {
                if case .stop(let continuation) = command {
                    mustStop = true
                    if let continuation { stops.append(continuation) }
                } else {
                    driver.carryOut(command)
                }
            }
            commands.removeAll(keepingCapacity: commands.capacity < 1024)
            if mustStop { break }
            driver.drive()
            if driver.isIdle, patience.wait(until: { inbox.withLock { $0.hasCommands } }) { continue }
            guard inbox.withLock({ $0.prepareToSleep() }) else { continue }
            let wait = driver.pollTimeout
            curl_multi_poll(multi, nil, 0, canBeWoken ? wait : Swift.min(wait, 5), nil)
        }
        driver.endAll(.sessionInvalidated, "the loader was shut down")
        inbox.withLock { inbox in
            inbox.phase = .stopped
            inbox.take(into: &commands)
        }
        for case .stop(let continuation?) in commands { stops.append(continuation) }
        for stop in stops { stop.resume() }
    }
}
