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
    /// Blocks SIGINT and SIGTERM in this thread and those that it will start; call it before there are any.
    static func block() {
        var set = waited
        // A shell starts background jobs with SIGINT ignored; whoever sends it to this process means it.
        signal(SIGINT, SIG_DFL)
        signal(SIGTERM, SIG_DFL)
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `body` on the first signal; a second one ends the process at once.
    static func wait(_ body: () -> Void) -> Never {
        next()
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
