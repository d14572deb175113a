#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A joinable thread with a small stack.
struct ServerThread: @unchecked Sendable {
    // @unchecked Sendable: POSIX allows any thread to use a thread's handle.
    private let handle: pthread_t

    private final class Work: Sendable {
        let body: @Sendable () -> Void
        init(_ body: @escaping @Sendable () -> Void) { self.body = body }
    }

    /// Starts a thread; returns `nil` if the system has no more threads.
    static func start(_ body: @escaping @Sendable () -> Void) -> ServerThread? {
        var attributes = pthread_attr_t()
        pthread_attr_init(&attributes)
        defer { pthread_attr_destroy(&attributes) }
        // Large enough for scripts and for the sanitizers' frames, which are several times larger.
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

    /// Waits for the thread to end; detaches it if it is the calling thread.
    func join() {
        if pthread_equal(handle, pthread_self()) != 0 {
            pthread_detach(handle)
        } else {
            pthread_join(handle, nil)
        }
    }

    /// Lets the thread end without a ``join()``.
    func detach() { pthread_detach(handle) }
}
