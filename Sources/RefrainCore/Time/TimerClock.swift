internal import SanitizerShim

/// The clock that retries wait on: monotonic time, and one timer thread for all who wait.
///
/// `Task.sleep` costs a dispatch timer for each sleeper. Here a sleeper is an entry in one heap, so a hundred
/// thousand waiting requests are cheap, wake on time, and can be cancelled at once.
public struct TimerClock: InterruptibleClock {
    /// A point of the standard library's continuous, monotonic time.
    public typealias Instant = ContinuousClock.Instant

    /// Makes the clock; all of them share one timer.
    @inlinable
    public init() {}

    /// The present.
    @inlinable
    public var now: Instant { ContinuousClock.now }

    /// The shortest step between two readings.
    public var minimumResolution: Duration { ContinuousClock().minimumResolution }

    /// Waits until `deadline`, or throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, in: nil)
    }

    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    public func sleep(until deadline: Instant, in group: SleepGroup?) async throws {
        guard await Self.sleep(for: now.duration(to: deadline), in: group) else { throw CancellationError() }
    }
}

extension TimerClock {
    /// Waits for `duration`; false as soon as the task or the group is cancelled.
    ///
    /// It is inlined, down to the point where the task is parked, since each function on the way there has a frame that
    /// a sleeper keeps. A hundred thousand keep a hundred thousand of each.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) package static func sleep(for duration: Duration, in group: SleepGroup?) async -> Bool {
        guard duration > .zero else { return !Task.isCancelled }
        // Written and read only with the timer's mutex held.
        nonisolated(unsafe) var ticket: SleeperTicket?
        // The timer knows the group by its address.
        defer { withExtendedLifetime(group) {} }
        let isDue = await withTaskCancellationHandler {
            await withUnsafeContinuation { continuation in
                park(continuation, for: duration, in: group) { ticket = $0 }
            }
        } onCancel: {
            wake { ticket }
        }
        noteWakening()
        return isDue
    }

    @usableFromInline
    static func park(
        _ continuation: UnsafeContinuation<Bool, Never>,
        for duration: Duration,
        in group: SleepGroup?,
        note: (SleeperTicket) -> Void
    ) {
        TimerQueue.shared.add(continuation, for: duration, in: group, note: note)
    }

    /// A sleeper that was woken before it slept has no other way to tell the thread sanitizer of that order.
    @usableFromInline
    static func noteWakening() { refrain_note_resumption() }

    @usableFromInline
    static func wake(_ ticket: () -> SleeperTicket?) {
        TimerQueue.shared.interrupt(ticket)
    }
}
