// SPDX-License-Identifier: Apache-2.0
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
            case SIGQUIT: .quit
            case SIGHUP: .hungUp
            case SIGTERM: .terminated
            default: .interrupted
            }
        }
    }

    private static let state = Locked(State())

    /// Blocks the signals in this thread and those that it will start; call it before there are any.
    ///
    /// One that the parent process ignores, as `nohup` and `trap ''` do, stays ignored.
    static func block() {
        var set = waited
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Ends the process by the signal that was received, so that a shell ends its loop as well; returns if none was.
    static func end() {
        let signal = state.withLock { $0.taken }
        guard signal != 0 else { return }
        _ = systemSignal(signal, SIG_DFL)
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, signal)
        pthread_sigmask(SIG_UNBLOCK, &set, nil)
        // To this thread: the main thread would receive one that is for the process.
        raise(signal)
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
        }
        guard state.withLock({ $0.isUnderWay }) else { die() }
        body()
        take()
        die()
    }

    private static func die() -> Never {
        end()
        _exit(status.rawValue)
    }

    private static func take() {
        var set = waited
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        state.withLock { $0.taken = signal }
    }

    /// The signals that end the command, except those that the parent process ignores.
    private static let heeded: [Int32] = [SIGINT, SIGTERM, SIGHUP, SIGQUIT].filter { number in
        func address(_ handler: (@convention(c) (Int32) -> Void)?) -> Int { unsafeBitCast(handler, to: Int.self) }
        // It can only be read by setting it.
        let isIgnored = address(systemSignal(number, SIG_DFL)) == address(SIG_IGN)
        if isIgnored { _ = systemSignal(number, SIG_IGN) }
        return !isIgnored
    }

    private static var waited: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        for signal in heeded { sigaddset(&set, signal) }
        return set
    }
}

/// Sets the action for a signal; returns the one before.
private func systemSignal(
    _ number: Int32,
    _ action: (@convention(c) (Int32) -> Void)?
) -> (@convention(c) (Int32) -> Void)? { signal(number, action) }
