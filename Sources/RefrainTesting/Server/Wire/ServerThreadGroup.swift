#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

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
