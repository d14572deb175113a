internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The signals that ask a command to end.
///
/// They are blocked in every thread, and received by the main thread, which does nothing else, so that no code runs in
/// a signal handler.
enum Signals {
    private struct State {
        /// Whether the command has begun its work, and must clean up before it ends.
        var isUnderWay = false
        /// The signal that was received.
        var taken: Int32 = 0
        /// Restores a setting before a signal ends the process, such as the echo of a terminal.
        var restore: (@Sendable () -> Void)?

        var status: ExitStatus {
            switch taken {
            case SIGHUP: .hungUp
            case SIGTERM: .terminated
            default: .interrupted
            }
        }
    }

    private static let state = Locked(State())

    /// Blocks SIGINT, SIGTERM and SIGHUP in this thread and those that it will start; call it before there are any.
    static func block() {
        var set = waited
        pthread_sigmask(SIG_BLOCK, &set, nil)
        // A shell starts background jobs with SIGINT ignored; a SIGINT sent to this process must still end it.
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
    }

    /// The exit status of a command that was ended by a signal.
    static var status: ExitStatus { state.withLock { $0.status } }

    /// From now on a signal cancels the work; before, it ends the process immediately.
    ///
    /// Before, the process reads and opens files. Opening a pipe without a peer blocks in the system, where
    /// cancellation has no effect.
    static func beginWork() { state.withLock { $0.isUnderWay = true } }

    /// Runs work that must not be interrupted; a signal waits for its end.
    static func holdingOff<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let failure: Failure? = state.withLock { _ in
            do throws(Failure) {
                try body()
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Runs work that a signal may interrupt; then `restore` is called before the process ends.
    static func restoring<Value>(_ restore: @escaping @Sendable () -> Void, _ body: () -> Value) -> Value {
        state.withLock { $0.restore = restore }
        defer { state.withLock { $0.restore = nil } }
        return body()
    }

    /// Calls `body` on the first signal after ``beginWork()``; one before it and a second one end the process at once.
    static func wait(_ body: () -> Void) -> Never {
        take()
        state.withLock { state in
            guard !state.isUnderWay else { return }
            state.restore?()
            _exit(state.status.rawValue)
        }
        body()
        take()
        _exit(status.rawValue)
    }

    private static func take() {
        var set = waited
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        state.withLock { $0.taken = signal }
    }

    /// Whether the parent process ignores SIGHUP, as `nohup` does.
    private static let ignoresHangUp: Bool = {
        func number(_ handler: (@convention(c) (Int32) -> Void)?) -> Int { unsafeBitCast(handler, to: Int.self) }
        // It can only be read by setting it.
        let isIgnored = number(signal(SIGHUP, SIG_DFL)) == number(SIG_IGN)
        if isIgnored { signal(SIGHUP, SIG_IGN) }
        return isIgnored
    }()

    private static var waited: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        if !ignoresHangUp { sigaddset(&set, SIGHUP) }
        return set
    }
}
