// SPDX-License-Identifier: Apache-2.0
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
/// Other threads only append commands and wake the thread. When no transfer is active, the calling thread drives its
/// own request (``lead(_:_:)``).
final class EventLoop: @unchecked Sendable {
    // @unchecked Sendable: `commands` has its lock; `multi` never changes, and curl_multi_wakeup may be called from any
    // thread; `driver`, and `multi` for all else, are used only by the owner that `commands` names; `jobs` only by the
    // loop's thread.
    let commands = ConditionLock(CommandQueue())
    private let multi: UnsafeMutableRawPointer?
    private let driver: TransferDriver
    /// How long a leader waits for its response, in nanoseconds; the kernel may add 50,000.
    private let leaderWait: MonotonicTime
    private let canBeWoken: Bool
    /// Jobs of tasks that prefer the loop's thread.
    private var jobs: [UnownedJob] = []
    /// Whether callers may drive requests: only if libcurl never blocks to resolve a name.
    private let canBeLed = refrain_features() & CURL_VERSION_ASYNCHDNS != 0

    init(configuration: CurlLoader.Configuration, leaderWait: MonotonicTime = 40_000) {
        self.leaderWait = leaderWait
        multi = refrain_global_init() == CURLE_OK ? curl_multi_init() : nil
        if let multi { refrain_hide_wakeup_from_children(multi) }
        // Without free file descriptors libcurl makes a handle that cannot be woken; such a loop polls every 5 ms.
        canBeWoken = multi.map { curl_multi_wakeup($0) == CURLM_OK } ?? false
        driver = TransferDriver(multi: multi, configuration: configuration)
        driver.loop = self
    }

    deinit {
        // The thread retains the loop while it runs, so the handle is no longer in use.
        guard let multi, refrain_begin_use() else { return }
        driver.freeHandles()
        keepingPipeAction { curl_multi_cleanup(multi) }
        driver.freePoller()
        refrain_end_use()
    }

    // MARK: From any thread

    /// Submits a transfer; the completion is called exactly once with its result.
    func submit(_ transfer: Transfer, _ completion: Completion) {
        transfer.noteSubmission()
        let mayLead = canBeLed && transfer.isPlain
        switch commands.withLock({ enter(transfer, completion, mayLead: mayLead, &$0) }) {
        case .waits(let how):
            wake(how)
        case .leads(let lead):
            self.lead(transfer, lead)
        case .refused(let code):
            let message =
                switch code {
                case .unknown: "there are no resources for a thread or its poll"
                case .unsupportedURL: CurlVersion.refusal
                case .sessionInvalidated: "the loader was shut down"
                default: nil as String?
                }
            transfer.refuse(completion, code, message)
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
        _ commands: inout CommandQueue
    ) -> Entry {
        guard commands.phase != .stopping, commands.phase != .stopped else { return .refused(.sessionInvalidated) }
        guard !transfer.wasCancelled else { return .refused(.cancelled) }
        if commands.phase == .idle {
            // Permanent: the library stays the same for the life of the process.
            guard CurlVersion.refusal == nil else { return .refused(.unsupportedURL) }
            guard begin(&commands) else { return .refused(.unknown) }
        }
        transfer.accept(completion)
        if mayLead, let lead = commands.lead() { return .leads(lead) }
        return .waits(commands.add(.start(transfer)))
    }

    func cancel(_ transfer: Transfer) {
        wake(
            commands.withLock { commands in
                transfer.noteCancellation()
                guard transfer.wasSubmitted, commands.phase == .running else { return .not }
                return commands.add(.cancel(transfer))
            }
        )
    }

    /// Adds a command about a transfer that was submitted.
    func post(_ command: Command) {
        wake(commands.withLock { commands in commands.phase == .running ? commands.add(command) : .not })
    }

    func reset(_ continuation: UnsafeContinuation<Void, Never>) {
        let how = commands.withLock { commands in commands.phase == .running ? commands.add(.reset(continuation)) : nil
        }
        if let how { wake(how) } else { continuation.resume() }
    }

    func stop(_ continuation: UnsafeContinuation<Void, Never>? = nil) {
        let how: CommandQueue.Wake? = commands.withLock { commands in
            switch commands.phase {
            case .idle, .stopped:
                commands.phase = .stopped
                return nil
            case .running, .stopping:
                commands.phase = .stopping
                return commands.add(.stop(continuation))
            }
        }
        if let how { wake(how) } else { continuation?.resume() }
    }

    private func wake(_ how: CommandQueue.Wake) {
        switch how {
        case .not: break
        case .fromPoll: if let multi { curl_multi_wakeup(multi) }
        // The thread waits with the poller, which it does not change meanwhile.
        case .fromSocketPoll: if let poller = driver.poller { refrain_poller_wake(poller) }
        case .fromWait: commands.signal()
        }
    }

    /// Starts the thread; returns false if the system has no resources for it.
    private func begin(_ commands: inout CommandQueue) -> Bool {
        guard multi != nil, startThread() else { return false }
        commands.phase = .running
        return true
    }

    private func startThread() -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let result = withSignalsBlocked {
            pthread_create(
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
        }
        guard result == 0 else {
            context.release()
            return false
        }
        refrain_name_thread(thread, "refrain-curl")
        return true
    }

    // MARK: On the loop's thread

    /// For how many nanoseconds the owner of the loop may wait for a command; nil: for ever.
    private var longestRest: Int64? {
        if !BodyBlocks.shared.isEmpty { return BodyBlocks.longestIdle }
        return driver.hasConnections ? driver.longestIdle : nil
    }

    /// Waits for a command; closes connections, and returns memory, that nothing has used for long.
    private func rest() {
        var isWaiting = true
        var wait = longestRest
        while isWaiting {
            commands.wait(after: { $0.park() }, until: { $0.owner == .thread }, atMost: wait)
            // A leader may drive the loop now; it is waited for as before.
            guard commands.withLock({ $0.takeIfFree() }) else {
                isWaiting = commands.withLock { $0.owner != .thread }
                continue
            }
            refrain_begin_use_or_wait()
            driver.now = .now
            BodyBlocks.shared.releaseUnused(now: driver.now)
            driver.closeOldConnections()
            refrain_end_use()
            wait = longestRest
            isWaiting = commands.withLock { !$0.hasCommands }
        }
    }

    /// How long the thread sleeps before it polls the sockets of paused transfers, in milliseconds.
    private static let sleepBeforePolling: Int32 = 1

    private func run() {
        guard let multi else { return }
        refrain_set_current_loop(Unmanaged.passUnretained(self).toOpaque())
        var batch: [Command] = []
        var stops: [UnsafeContinuation<Void, Never>] = []
        var spin = AdaptiveSpin()
        while true {
            commands.withLock { $0.take(into: &batch) }
            driver.now = .now
            var mustStop = false
            for command in batch {
                switch command {
                case .stop(let continuation):
                    mustStop = true
                    if let continuation { stops.append(continuation) }
                case .run(let job): jobs.append(job)
                default: driver.carryOut(command)
                }
            }
            batch.removeAll(keepingCapacity: batch.capacity < 1024)
            if mustStop { break }
            driver.drive()
            if !jobs.isEmpty { runJobs() }
            if driver.isIdle {
                let spins = driver.hadOtherTransfers || !canBeLed
                driver.hadOtherTransfers = false
                refrain_end_use()
                defer { refrain_begin_use_or_wait() }
                if !spins || !spin.wait(until: { commands.withLock { $0.hasCommands } }) {
                    rest()
                }
                continue
            }
            let pollsSockets = driver.pollsSockets
            guard commands.withLock({ $0.prepareToPoll(sockets: pollsSockets) }) else { continue }
            if driver.sleepsBeforePolling { poll(nil, 0, Self.sleepBeforePolling) }
            let wait = driver.pollTimeout()
            refrain_end_use()
            if pollsSockets {
                driver.waitForSockets(wait)
            } else {
                curl_multi_poll(multi, nil, 0, canBeWoken ? wait : Swift.min(wait, 5), nil)
            }
            refrain_begin_use_or_wait()
        }
        driver.endAll(.sessionInvalidated, "the loader was shut down")
        driver.releaseLookups()
        commands.withLock { commands in
            commands.phase = .stopped
            commands.take(into: &batch)
        }
        refrain_set_current_loop(nil)
        for command in batch {
            if case .run(let job) = command { jobs.append(job) }
            if case .stop(let continuation?) = command { stops.append(continuation) }
        }
        moveJobs()
        for stop in stops { stop.resume() }
    }
}

// MARK: On a calling thread

extension EventLoop {
    /// Drives a request on the calling thread: sends it, and waits up to ``leaderWait`` for its response.
    ///
    /// Most nearby servers respond within that time. The continuation is then resumed before its task is suspended, and
    /// no thread wakes another one. If there is more to do, the loop's thread takes over.
    private func lead(_ transfer: Transfer, _ lead: CommandQueue.Lead) {
        guard driver.expectsConnection(for: transfer), refrain_begin_use() else {
            // Making a connection, with TLS in particular, takes longer than a leader waits.
            return wake(commands.withLock { $0.endLead(with: .start(transfer)) })
        }
        defer { refrain_end_use() }
        // Without TLS all writes are libcurl's own, which raise no signal.
        let mayRaiseSignal = transfer.url.isTLS || driver.mayHaveTLS
        var signal = refrain_held_signal()
        if mayRaiseSignal { refrain_hold_pipe_signal(&signal) }
        defer { if mayRaiseSignal { refrain_release_pipe_signal(&signal) } }
        driver.now = transfer.submittedAt
        driver.carryOut(.start(transfer))
        driver.drive()
        let limit = driver.now.after(leaderWait)
        // A request that is not sent yet waits for a connection, which takes longer.
        while !driver.isIdle, transfer.sending.sends > 0, driver.now < limit {
            let wait = limit &- driver.now
            var sockets = refrain_sockets()
            // From here on, until it owns the loop again, the leader may use neither the driver nor the transfer.
            guard refrain_list_sockets(multi, &sockets), commands.withLock({ $0.leaderWaits() }) else { break }
            let isReady = refrain_wait_for_sockets(&sockets, wait)
            guard commands.withLock({ $0.leaderGoesOn(lead) }) else { return }
            guard isReady else { break }
            driver.drive()
        }
        wake(commands.withLock { $0.endLead(isDone: driver.isIdle) })
    }
}

// MARK: Jobs of tasks

/// Tasks can prefer the loop's thread: then neither a response nor the next request wakes another thread.
///
/// While a job runs the loop does nothing else, so this is for tasks that compute little and never block.
extension EventLoop: TaskExecutor {
    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        if refrain_current_loop() == Unmanaged.passUnretained(self).toOpaque() { return jobs.append(job) }
        let how: CommandQueue.Wake? = commands.withLock { commands in
            if commands.phase == .idle, !begin(&commands) { return nil }
            return commands.phase == .running ? commands.add(.run(job)) : nil
        }
        if let how { wake(how) } else { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
    }

    /// Runs the pending jobs, and those that they enqueue.
    fileprivate func runJobs() {
        let executor = asUnownedTaskExecutor()
        var next = 0
        while next < jobs.count {
            jobs[next].runSynchronously(on: executor)
            next += 1
        }
        jobs.removeAll(keepingCapacity: next < 1024)
        if MonotonicTime.now > driver.now.after(Self.longBlock) { driver.wasBlocked = true }
    }

    /// The duration of jobs, in nanoseconds, from which on a limit may have passed only because sockets were not read.
    private static let longBlock: Int64 = 10_000_000

    /// Moves the jobs to the global executor, because the thread ends.
    fileprivate func moveJobs() {
        for job in jobs { globalConcurrentExecutor.enqueue(ExecutorJob(job)) }
        jobs = []
    }
}

/// Runs a closure on a thread of its own, which receives no signals; returns false if the system has no resources.
func runThread(_ body: @escaping @Sendable () -> Void) -> Bool {
    final class Job {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }
    let job = Unmanaged.passRetained(Job(body))
    var attributes = pthread_attr_t()
    pthread_attr_init(&attributes)
    pthread_attr_setdetachstate(&attributes, CInt(PTHREAD_CREATE_DETACHED))
    defer { pthread_attr_destroy(&attributes) }
    var thread = pthread_t()
    let result = withSignalsBlocked {
        pthread_create(
            &thread,
            &attributes,
            { context in
                if let context { Unmanaged<Job>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            },
            job.toOpaque()
        )
    }
    if result != 0 { job.release() }
    return result == 0
}

/// Calls `body` with all signals blocked: they are for the program's own threads, and a new thread inherits the mask.
private func withSignalsBlocked<Result>(_ body: () -> Result) -> Result {
    var everything = sigset_t()
    var previous = sigset_t()
    sigfillset(&everything)
    pthread_sigmask(SIG_SETMASK, &everything, &previous)
    defer { pthread_sigmask(SIG_SETMASK, &previous, nil) }
    return body()
}

/// Calls libcurl where it may change the process's action for SIGPIPE, and restores the action afterwards.
///
/// Meanwhile a write to a broken pipe on another thread can end the process; only another version of libcurl prevents
/// that.
@discardableResult
func keepingPipeAction<Result>(_ body: () -> Result) -> Result {
    guard CurlVersion.resetsPipeAction else { return body() }
    refrain_hold_pipe_action()
    defer { refrain_restore_pipe_action() }
    return body()
}
