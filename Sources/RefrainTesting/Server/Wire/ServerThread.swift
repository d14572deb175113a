#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A thread with a small stack that can be waited for.
struct ServerThread: @unchecked Sendable {
    // @unchecked Sendable: a thread's handle is an opaque name that POSIX allows any thread to use.
    private let handle: pthread_t

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread, or gives `nil` where the system has none left.
    static func start(_ body: @escaping @Sendable () -> Void) -> ServerThread? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        // Scripts run on it, and the sanitizers' frames are several times larger than usual.
        pthread_attr_setstacksize(&attributes, 512 * 1024)
        let work = Unmanaged.passRetained(Work(body))
        #if canImport(Darwin)
        var created: pthread_t?
        let code = pthread_create(&created, &attributes, { Self.run($0) }, work.toOpaque())
        guard code == 0, let handle = created else {
            work.release()
            return nil
        }
        #else
        var handle = pthread_t()
        let code = pthread_create(&handle, &attributes, { Self.run($0) }, work.toOpaque())
        guard code == 0 else {
            work.release()
            return nil
        }
        #endif
        return ServerThread(handle: handle)
    }

    private static func run(_ argument: UnsafeMutableRawPointer?) -> UnsafeMutableRawPointer? {
        guard let argument else { return nil }
        Unmanaged<Work>.fromOpaque(argument).takeRetainedValue().body()
        return nil
    }

    /// Waits for the end of the thread; lets it go if it is the caller itself.
    func join() {
        if pthread_equal(handle, pthread_self()) != 0 {
            pthread_detach(handle)
        } else {
            pthread_join(handle, nil)
        }
    }
}
