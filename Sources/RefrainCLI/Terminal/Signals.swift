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
/// They are blocked in every thread, and taken by the main thread, which does nothing else: so no code runs inside of a
/// signal handler, and no state is needed that one could reach.
enum Signals {
    /// Whether the command does what it is for, and has something to put in order when it is asked to end.
    private static let isUnderWay = Locked(false)

    /// Blocks SIGINT and SIGTERM in this thread and those that it will start; call it before there are any.
    static func block() {
        var set = waited
        // A shell starts background jobs with SIGINT ignored; whoever sends it to this process means it.
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// From now on a signal cancels the work; up to here it ends the process at once.
    ///
    /// What comes before is reading and opening, where a pipe without anybody at its other end makes the system wait:
    /// no cancelled task comes out of that.
    static func beginWork() { isUnderWay.withLock { $0 = true } }

    /// Does what leaves something behind if it is not done to its end; a signal waits for that.
    static func holdingOff<Failure>(_ body: () throws(Failure) -> Void) throws(Failure) {
        let failure: Failure? = isUnderWay.withLock { _ in
            do throws(Failure) {
                try body()
                return nil
            } catch {
                return error
            }
        }
        if let failure { throw failure }
    }

    /// Calls `body` on the first signal after ``beginWork()``; one before it and a second one end the process at once.
    static func wait(_ body: () -> Void) -> Never {
        next()
        isUnderWay.withLock { isUnderWay in
            if !isUnderWay { _exit(ExitStatus.interrupted.rawValue) }
        }
        body()
        next()
        _exit(ExitStatus.interrupted.rawValue)
    }

    private static func next() {
        var set = waited
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
    }

    private static var waited: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }
}
