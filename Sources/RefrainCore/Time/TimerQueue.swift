#if canImport(Glibc)
internal import Glibc
// See SystemTime.swift: `timespec` may come from either.
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One thread that wakes every sleeper of the process at its time.
///
/// The thread starts with the first sleeper and stays. It sleeps on a condition variable until the earliest alarm is
/// due, and is woken early only by a sleeper that comes before that one.
final class TimerQueue: @unchecked Sendable, SleepInterrupter {
    // @unchecked Sendable: what `state` points to is touched only with `mutex` held.
    static let shared = TimerQueue()

    private struct State {
        var sleepers = SleeperTable<UnsafeContinuation<Bool, Never>>()
        var isRunning = false
    }

    // At addresses of their own, and never freed: the queue is one for the process. What is reached by a pointer is
    // also not checked for exclusive access, which the mutex grants.
    private let state: UnsafeMutablePointer<State>
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let earlier: UnsafeMutablePointer<pthread_cond_t>

    private init() {
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

    /// Takes a sleeper in, and says under which ticket while the mutex is held.
    func add(
        _ continuation: UnsafeContinuation<Bool, Never>,
        for duration: Duration,
        in group: SleepGroup?,
        note: (SleeperTicket) -> Void
    ) {
        group?.register(self)
        let due = Self.monotonicNanoseconds(after: duration)
        pthread_mutex_lock(mutex)
        // Who cancels marks the task or the group first and then asks for the mutex, in order to look for sleepers. So
        // either the mark is seen here, or the sleeper there.
        guard !Task.isCancelled, group?.isClosed != true else {
            pthread_mutex_unlock(mutex)
            return continuation.resume(returning: false)
        }
        let isEarliest = state.pointee.sleepers.nextDue.map { due < $0 } ?? true
        note(state.pointee.sleepers.insert(continuation, due: due, group: group))
        if !state.pointee.isRunning {
            state.pointee.isRunning = true
            startThread()
        }
        if isEarliest { pthread_cond_signal(earlier) }
        pthread_mutex_unlock(mutex)
    }

    /// Takes a sleeper out again; `ticket` is asked for while the mutex is held.
    func interrupt(_ ticket: () -> SleeperTicket?) {
        pthread_mutex_lock(mutex)
        let continuation = ticket().flatMap { state.pointee.sleepers.remove($0) }
        pthread_mutex_unlock(mutex)
        continuation?.resume(returning: false)
    }

    func interruptAll(in group: SleepGroup) {
        pthread_mutex_lock(mutex)
        let continuations = state.pointee.sleepers.removeAll(in: group)
        pthread_mutex_unlock(mutex)
        for continuation in continuations { continuation.resume(returning: false) }
    }

    private func startThread() {
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let started = pthread_create(
            &thread,
            nil,
            { _ in
                TimerQueue.shared.run()
                return nil
            },
            nil
        )
        // Without a thread nobody would ever wake: try again with the next sleeper.
        state.pointee.isRunning = started == 0
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        if started == 0 { pthread_detach(thread) }
        #endif
    }

    private func run() {
        var due: [UnsafeContinuation<Bool, Never>] = []
        pthread_mutex_lock(mutex)
        while true {
            let now = Self.monotonicNanoseconds(after: .zero)
            while let continuation = state.pointee.sleepers.removeFirst(dueBy: now) { due.append(continuation) }
            if !due.isEmpty {
                pthread_mutex_unlock(mutex)
                for continuation in due { continuation.resume(returning: true) }
                due.removeAll(keepingCapacity: due.count < 4096)
                pthread_mutex_lock(mutex)
            } else if let next = state.pointee.sleepers.nextDue {
                wait(nanoseconds: next - now, until: next)
            } else {
                pthread_cond_wait(earlier, mutex)
            }
        }
    }

    private func wait(nanoseconds: Int64, until due: Int64) {
        #if canImport(Darwin)
        var time = timespec(tv_sec: Int(nanoseconds / 1_000_000_000), tv_nsec: Int(nanoseconds % 1_000_000_000))
        pthread_cond_timedwait_relative_np(earlier, mutex, &time)
        #else
        var time = timespec(tv_sec: Int(due / 1_000_000_000), tv_nsec: Int(due % 1_000_000_000))
        pthread_cond_timedwait(earlier, mutex, &time)
        #endif
    }

    private static func monotonicNanoseconds(after duration: Duration) -> Int64 {
        let (sum, overflow) = SystemTime.monotonicNanoseconds.addingReportingOverflow(duration.delayInNanoseconds)
        return overflow ? .max : sum
    }
}
