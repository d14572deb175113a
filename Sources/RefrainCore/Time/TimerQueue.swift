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
/// The thread starts with the first sleeper and stays. It sleeps on a condition variable until the earliest entry of
/// the heap is due, and is woken early only by an entry that comes before that one.
final class TimerQueue: @unchecked Sendable, SleepInterrupter {
    // @unchecked Sendable: `heap` and `isRunning` are touched only with `mutex` held.
    static let shared = TimerQueue()

    private var heap = SleeperHeap()
    private var isRunning = false
    private let mutex: UnsafeMutablePointer<pthread_mutex_t>
    private let earlier: UnsafeMutablePointer<pthread_cond_t>

    private init() {
        // Never freed: the queue is one for the process.
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

    /// Parks the calling task for `duration`.
    nonisolated(nonsending) func sleep(for duration: Duration, in group: SleepGroup?) async throws {
        guard duration > .zero else { return try Task.checkCancellation() }
        group?.register(self)
        let sleeper = Sleeper(due: Self.monotonicNanoseconds(after: duration), group: group)
        try await withTaskCancellationHandler {
            try await withUnsafeThrowingContinuation { continuation in
                add(sleeper, continuation)
            }
        } onCancel: {
            interrupt(sleeper)
        }
    }

    private func add(_ sleeper: Sleeper, _ continuation: UnsafeContinuation<Void, any Error>) {
        pthread_mutex_lock(mutex)
        guard !sleeper.isCancelled, sleeper.group?.isClosed != true else {
            pthread_mutex_unlock(mutex)
            return continuation.resume(throwing: CancellationError())
        }
        sleeper.continuation = continuation
        heap.insert(sleeper)
        if !isRunning {
            isRunning = true
            startThread()
        }
        if heap.first === sleeper { pthread_cond_signal(earlier) }
        pthread_mutex_unlock(mutex)
    }

    private func interrupt(_ sleeper: Sleeper) {
        pthread_mutex_lock(mutex)
        sleeper.isCancelled = true
        heap.remove(sleeper)
        let continuation = sleeper.continuation.take()
        pthread_mutex_unlock(mutex)
        continuation?.resume(throwing: CancellationError())
    }

    func interruptAll(in group: SleepGroup) {
        pthread_mutex_lock(mutex)
        let members = heap.removeAll { $0.group === group }
        let continuations = members.compactMap { $0.continuation.take() }
        pthread_mutex_unlock(mutex)
        for continuation in continuations { continuation.resume(throwing: CancellationError()) }
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
        isRunning = started == 0
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        if started == 0 { pthread_detach(thread) }
        #endif
    }

    private func run() {
        var due: [UnsafeContinuation<Void, any Error>] = []
        pthread_mutex_lock(mutex)
        while true {
            let now = Self.monotonicNanoseconds(after: .zero)
            while let first = heap.first, first.due <= now {
                heap.remove(first)
                if let continuation = first.continuation.take() { due.append(continuation) }
            }
            if !due.isEmpty {
                pthread_mutex_unlock(mutex)
                for continuation in due { continuation.resume() }
                due.removeAll(keepingCapacity: due.count < 4096)
                pthread_mutex_lock(mutex)
            } else if let first = heap.first {
                wait(nanoseconds: first.due - now, until: first.due)
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
