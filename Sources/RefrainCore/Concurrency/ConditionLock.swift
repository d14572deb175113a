// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A value behind a mutex, and one thread at a time that can wait for a change of it.
///
/// As `Locked`, with a condition variable beside the mutex.
package final class ConditionLock<State>: @unchecked Sendable {
    // @unchecked Sendable: the state is only ever touched with the mutex held.
    private let state: UnsafeMutablePointer<State>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let change: UnsafeMutablePointer<pthread_cond_t>

    package init(_ state: sending State) {
        self.state = .allocate(capacity: 1)
        self.state.initialize(to: state)
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        change = .allocate(capacity: 1)
        change.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(change, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(change, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    deinit {
        pthread_cond_destroy(change)
        change.deallocate()
        pthread_mutex_destroy(mutex)
        mutex.deallocate()
        state.deinitialize(count: 1)
        state.deallocate()
    }

    /// Runs `body` with exclusive access to the value; it must not block, nor take the lock again.
    package func withLock<Result>(_ body: (inout State) -> Result) -> Result {
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        return body(&state.pointee)
    }

    /// Runs `begin`, and then waits until the condition holds; it is looked at after each ``signal()``.
    ///
    /// With a limit it waits for at most so many nanoseconds.
    package func wait(after begin: (inout State) -> Void, until holds: (State) -> Bool, atMost limit: Int64? = nil) {
        let deadline = limit.map { SystemTime.monotonicNanoseconds.addingSaturated($0) }
        pthread_mutex_lock(mutex)
        defer { pthread_mutex_unlock(mutex) }
        begin(&state.pointee)
        while !holds(state.pointee) {
            guard let deadline else {
                pthread_cond_wait(change, mutex)
                continue
            }
            let left = deadline - SystemTime.monotonicNanoseconds
            guard left > 0 else { return }
            #if canImport(Darwin)
            var time = timespec(nanoseconds: left)
            pthread_cond_timedwait_relative_np(change, mutex, &time)
            #else
            var time = timespec(nanoseconds: deadline)
            pthread_cond_timedwait(change, mutex, &time)
            #endif
        }
    }

    /// Wakes the waiting thread, which looks at its condition again.
    package func signal() { pthread_cond_signal(change) }
}
