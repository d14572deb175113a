// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
// See RetryClocks.swift: `timespec` may come from either.
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The default clock of retries: monotonic time, and one timer thread for all sleeping tasks.
///
/// `Task.sleep` needs a dispatch timer per task. Here a sleep is an entry in one heap, so a hundred thousand waiting
/// requests are cheap, wake on time, and can be cancelled at once.
@usableFromInline
package struct TimerClock: Clock {
    /// An instant of the standard library's continuous, monotonic clock.
    @usableFromInline package typealias Instant = ContinuousClock.Instant

    /// Makes the clock.
    ///
    /// All instances share one timer.
    @inlinable
    package init() {}

    /// The current time.
    @inlinable
    package var now: Instant { ContinuousClock.now }

    /// The shortest step between two readings.
    @usableFromInline package var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Sleeps until `deadline`.
    ///
    /// Throws `CancellationError` as soon as the task is cancelled.
    @usableFromInline
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        let isDue = await Self.sleep(for: now.duration(to: deadline), cancelledBy: nil)
        if !isDue { throw CancellationError() }
    }
}

extension TimerClock {
    /// Sleeps for `duration`.
    ///
    /// Returns false as soon as the task or the token is cancelled.
    ///
    /// It is inlined down to the point where the task is suspended, since a sleeping task keeps the frame of each
    /// function on the way there.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package static func sleep(
        for duration: Duration,
        cancelledBy token: CancellationToken?
    ) async -> Bool {
        guard duration > .zero else { return !Task.isCancelled }
        // Written and read only with the timer's mutex held.
        nonisolated(unsafe) var timer: TimerID?
        // The timer identifies the token by its address.
        defer { withExtendedLifetime(token) {} }
        let isDue = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                start(continuation, for: duration, cancelledBy: token) { timer = $0 }
            }
        } onCancel: {
            cancel { timer }
        }
        noteResumption()
        return isDue
    }

    @usableFromInline
    static func start(
        _ continuation: UnsafeContinuation<Bool, Never>,
        for duration: Duration,
        cancelledBy token: CancellationToken?,
        store: (TimerID) -> Void
    ) {
        TimerThread.shared.add(continuation, for: duration, cancelledBy: token, store: store)
    }

    @usableFromInline
    static func cancel(_ timer: () -> TimerID?) { TimerThread.shared.cancel(timer) }
}

/// The thread that resumes every sleeping task of the process when it is due.
///
/// It starts with the first sleep and stays. It waits on a condition variable until the earliest timer is due, and is
/// signalled only for a timer that is due before that one.
final class TimerThread: @unchecked Sendable {
    // @unchecked Sendable: what `state` points to is accessed only with `mutex` held.
    static let shared = TimerThread()

    private struct State {
        var timers = TimerStore<UnsafeContinuation<Bool, Never>>()
        var isRunning = false
    }

    // Addresses that never change and are never freed: there is one timer per process. What a pointer points to is also
    // not checked for exclusive access, which the mutex grants.
    private let state: UnsafeMutablePointer<State>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let earlier: UnsafeMutablePointer<pthread_cond_t>

    /// Whether the system has resources for a thread, apart from pthread_create; for tests.
    private let mayStart: @Sendable () -> Bool

    init(mayStart: @escaping @Sendable () -> Bool = { true }) {
        self.mayStart = mayStart
        state = .allocate(capacity: 1)
        state.initialize(to: State())
        mutex = .allocate(capacity: 1)
        mutex.initialize(to: pthread_mutex_t())
        pthread_mutex_init(mutex, nil)
        earlier = .allocate(capacity: 1)
        earlier.initialize(to: pthread_cond_t())
        #if canImport(Darwin)
        pthread_cond_init(earlier, nil)
        #else
        var attributes = pthread_condattr_t()
        pthread_condattr_init(&attributes)
        pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC)
        pthread_cond_init(earlier, &attributes)
        pthread_condattr_destroy(&attributes)
        #endif
    }

    /// Adds a timer, and passes its identity to `store` while the mutex is held.
    func add(
        _ continuation: UnsafeContinuation<Bool, Never>,
        for duration: Duration,
        cancelledBy token: CancellationToken?,
        store: (TimerID) -> Void
    ) {
        let due = SystemTime.monotonicNanoseconds.addingSaturated(duration.delayInNanoseconds)
        pthread_mutex_lock(mutex)
        // A cancellation first marks the task or the token, and then takes the mutex to look for timers. So either
        // the mark is seen here, or the timer there.
        guard !Task.isCancelled, token?.isCancelled != true else {
            pthread_mutex_unlock(mutex)
            return continuation.resume(returning: false)
        }
        let isEarliest = state.pointee.timers.nextDue.map { due < $0 } ?? true
        store(state.pointee.timers.insert(continuation, due: due, token: token))
        if !state.pointee.isRunning { start() }
        if isEarliest { pthread_cond_signal(earlier) }
        pthread_mutex_unlock(mutex)
    }

    /// Cancels a timer.
    ///
    /// `timer` is called while the mutex is held.
    func cancel(_ timer: () -> TimerID?) {
        pthread_mutex_lock(mutex)
        let continuation = timer().flatMap { state.pointee.timers.remove($0) }
        pthread_mutex_unlock(mutex)
        continuation?.resume(returning: false)
    }

    /// Cancels all timers with a token.
    func cancelSleeps(with token: CancellationToken) {
        pthread_mutex_lock(mutex)
        let continuations = state.pointee.timers.removeAll(with: token)
        pthread_mutex_unlock(mutex)
        for continuation in continuations { continuation.resume(returning: false) }
    }

    /// Starts the thread, with the mutex held.
    ///
    /// If the system has no resources for a thread at this moment, a task takes its place, and tries again.
    private func start() {
        state.pointee.isRunning = true
        guard !startThread() else { return }
        Task.detached { [self] in
            repeat { try? await Task.sleep(nanoseconds: Self.retryInterval) } while !takeOver()
        }
    }

    /// How long the task that takes the place of the thread sleeps, in nanoseconds.
    private static let retryInterval: UInt64 = 5_000_000

    /// Starts the thread, or resumes the sleeps that are due; returns whether the thread runs.
    private func takeOver() -> Bool {
        guard !startThread() else { return true }
        pthread_mutex_lock(mutex)
        let due = removeDue()
        pthread_mutex_unlock(mutex)
        for continuation in due { continuation.resume(returning: true) }
        return false
    }

    /// Removes the sleeps that are due, with the mutex held.
    private func removeDue() -> [UnsafeContinuation<Bool, Never>] {
        let now = SystemTime.monotonicNanoseconds
        var due: [UnsafeContinuation<Bool, Never>] = []
        while let continuation = state.pointee.timers.removeFirst(dueBy: now) { due.append(continuation) }
        return due
    }

    private func startThread() -> Bool {
        guard mayStart() else { return false }
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let result = pthread_create(
            &thread,
            nil,
            { context in
                #if !canImport(Darwin)
                guard let context else { return nil }
                #endif
                Unmanaged<TimerThread>.fromOpaque(context).takeUnretainedValue().run()
                return nil
            },
            // There is one timer per process, which is never deallocated.
            Unmanaged.passRetained(self).toOpaque()
        )
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        if result == 0 { pthread_detach(thread) }
        #endif
        return result == 0
    }

    private func run() {
        var due: [UnsafeContinuation<Bool, Never>] = []
        pthread_mutex_lock(mutex)
        while true {
            let now = SystemTime.monotonicNanoseconds
            while let continuation = state.pointee.timers.removeFirst(dueBy: now) { due.append(continuation) }
            if !due.isEmpty {
                pthread_mutex_unlock(mutex)
                for continuation in due { continuation.resume(returning: true) }
                due.removeAll(keepingCapacity: due.count < 4096)
                pthread_mutex_lock(mutex)
            } else if let next = state.pointee.timers.nextDue {
                #if canImport(Darwin)
                var time = timespec(nanoseconds: next - now)
                pthread_cond_timedwait_relative_np(earlier, mutex, &time)
                #else
                var time = timespec(nanoseconds: next)
                pthread_cond_timedwait(earlier, mutex, &time)
                #endif
            } else {
                pthread_cond_wait(earlier, mutex)
            }
        }
    }
}

extension timespec {
    init(nanoseconds: Int64) {
        self.init(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
    }
}
