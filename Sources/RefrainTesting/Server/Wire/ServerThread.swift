// SPDX-License-Identifier: Apache-2.0
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

/// Threads that leave nothing behind when they end, and whose ends can be awaited together.
///
/// A thread that is joined keeps its memory until then, and a server joins nothing before it is stopped.
final class ServerThreadGroup: @unchecked Sendable {
    // @unchecked Sendable: `count` and `running` are accessed only with the mutex held.
    private let mutex = UnsafeMutablePointer<pthread_mutex_t>.allocate(capacity: 1)
    private let change = UnsafeMutablePointer<pthread_cond_t>.allocate(capacity: 1)
    /// The threads that were started and have not ended.
    private var count = 0
    /// Those of them that run already.
    private var running: [pthread_t] = []

    init() {
        pthread_mutex_init(mutex, nil)
        pthread_cond_init(change, nil)
    }

    deinit {
        pthread_cond_destroy(change)
        pthread_mutex_destroy(mutex)
        change.deallocate()
        mutex.deallocate()
    }

    /// Starts a thread; returns false if the system has no more threads.
    func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        withLock { count += 1 }
        let thread = ServerThread.start { [self] in
            let current = pthread_self()
            withLock { running.append(current) }
            body()
            withLock {
                running.removeAll { pthread_equal($0, current) != 0 }
                count -= 1
            }
        }
        guard let thread else {
            withLock { count -= 1 }
            return false
        }
        thread.detach()
        return true
    }

    /// Waits until all threads have ended, the calling one excepted.
    func wait() {
        let current = pthread_self()
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        let own = running.contains { pthread_equal($0, current) != 0 } ? 1 : 0
        while count > own { pthread_cond_wait(change, mutex) }
    }

    private func withLock(_ body: () -> Void) {
        pthread_mutex_lock(mutex)
        body()
        pthread_cond_broadcast(change)
        pthread_mutex_unlock(mutex)
    }
}
