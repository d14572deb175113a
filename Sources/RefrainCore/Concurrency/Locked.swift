#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A value behind a mutex.
///
/// `pthread_mutex_t` is used rather than `Synchronization.Mutex`, because the thread sanitizer does not
/// see the futex of the latter on Linux and reports races that are none.
package final class Locked<State>: @unchecked Sendable {
    // @unchecked Sendable: `state` is only ever touched between lock and unlock of `mutex`. The users of
    // this type are within this package, and hand out of `withLock` only what is Sendable or theirs alone.
    private var state: State
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>

    /// Puts `state` behind a new mutex.
    package init(_ state: sending State) {
        self.state = state
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
    }

    deinit {
        pthread_mutex_destroy(mutex)
        mutex.deinitialize(count: 1)
        mutex.deallocate()
    }

    /// Runs `body` with exclusive access to the value.
    ///
    /// `body` must not block and must not take the lock again.
    package func withLock<Result, Failure: Error>(
        _ body: (inout State) throws(Failure) -> Result
    ) throws(Failure) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return try body(&state)
    }
}
