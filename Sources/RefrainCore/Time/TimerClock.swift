/// The clock that retries wait on: monotonic time, and one timer thread for all who wait.
///
/// `Task.sleep` costs a dispatch timer for each sleeper. Here a sleeper is an entry in one heap, so a hundred
/// thousand waiting requests are cheap, wake on time, and can be cancelled at once.
public struct TimerClock: InterruptibleClock {
    /// A point of the standard library's continuous, monotonic time.
    public typealias Instant = ContinuousClock.Instant

    /// Makes the clock. All of them share one timer.
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

/// A clock whose sleepers can also be woken by the one who manages them, not only by their own task.
public protocol InterruptibleClock: Clock<Duration> {
    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    nonisolated(nonsending) func sleep(until deadline: Instant, in group: SleepGroup?) async throws
}

/// Sleepers that can be cancelled together, such as all the requests that a retry stage holds in back-off.
public final class SleepGroup: Sendable {
    private let interrupts = Locked<[ObjectIdentifier: any SleepInterrupter]>([:])

    /// Makes an empty group.
    public init() {}

    /// Ends every wait of this group now, each with a `CancellationError`.
    ///
    /// Waits that begin later are not affected.
    public func cancelAll() {
        for interrupter in interrupts.withLock({ Array($0.values) }) {
            interrupter.interruptAll(in: self)
        }
    }

    /// Names a timer that holds sleepers of this group.
    public func register(_ interrupter: any SleepInterrupter) {
        interrupts.withLock { $0[ObjectIdentifier(interrupter)] = interrupter }
    }
}

/// A timer that can end the waits of a group.
public protocol SleepInterrupter: AnyObject, Sendable {
    /// Ends every wait of the group.
    func interruptAll(in group: SleepGroup)
}
