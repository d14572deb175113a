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
        try await TimerQueue.shared.sleep(for: now.duration(to: deadline), in: group)
    }
}
