#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The signals that ask a command to end.
///
/// They are blocked in every thread, and taken by one that waits for nothing else, so that no code runs inside of a
/// signal handler.
enum Signals {
    /// Blocks SIGINT and SIGTERM in this thread and those that it will start; call it before there are any.
    static func block() {
        var set = waited
        pthread_sigmask(SIG_BLOCK, &set, nil)
    }

    /// Calls `body` on the first signal; a second one ends the process at once.
    static func watch(_ body: @escaping @Sendable () -> Void) {
        let context = Unmanaged.passRetained(Watch(body: body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let failure = pthread_create(&thread, nil, { Signals.wait($0) }, context.toOpaque())
        if failure != 0 { context.release() }
    }

    #if canImport(Darwin)
    private typealias Argument = UnsafeMutableRawPointer
    #else
    private typealias Argument = UnsafeMutableRawPointer?
    #endif

    private static func wait(_ argument: Argument) -> UnsafeMutableRawPointer? {
        let pointer: UnsafeMutableRawPointer? = argument
        guard let pointer else { return nil }
        let watch = Unmanaged<Watch>.fromOpaque(pointer).takeRetainedValue()
        var set = waited
        var signal: Int32 = 0
        while sigwait(&set, &signal) != 0 {}
        watch.body()
        while sigwait(&set, &signal) != 0 {}
        _exit(ExitStatus.interrupted.rawValue)
    }

    private static var waited: sigset_t {
        var set = sigset_t()
        sigemptyset(&set)
        sigaddset(&set, SIGINT)
        sigaddset(&set, SIGTERM)
        return set
    }

    private final class Watch: Sendable {
        let body: @Sendable () -> Void

        init(body: @escaping @Sendable () -> Void) { self.body = body }
    }
}
