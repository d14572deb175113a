/// What came of the delay between two attempts.
@usableFromInline
package enum RetryPause: Sendable {
    /// It is over, and this attempt follows.
    case ends(Attempt)
    /// The deadline leaves no time for it; its length.
    case reachesDeadline(Duration)
    /// The task was cancelled.
    case cancelled
}

extension Attempt {
    /// Waits for the attempt after this one.
    ///
    /// - Parameters:
    ///   - requested: the delay; clamped to zero … `Duration.longestDelay`.
    ///   - isFree: whether the next attempt does not count towards the limit.
    ///   - timeLeft: returns the time left now; nil: no limit.
    ///   - waits: waits for a delay; returns false if the task was cancelled.
    @inlinable
    @inline(__always)
    package nonisolated(nonsending) func pause(
        for requested: Duration,
        isFree: Bool,
        timeLeft: () -> Duration?,
        waits: (Duration) async -> Bool
    ) async -> RetryPause {
        // Without a delay this is also the check before the next attempt.
        guard !Task.isCancelled else { return .cancelled }
        let delay = requested > .zero ? requested.clampedToDelay : .zero
        var remaining = timeLeft()
        if let remaining, delay >= remaining { return .reachesDeadline(delay) }
        if delay > .zero {
            guard await waits(delay), !Task.isCancelled else { return .cancelled }
            // A delay can last longer than requested, on a busy machine or one that was suspended.
            if remaining != nil { remaining = timeLeft() }
            if let remaining, remaining <= .zero { return .reachesDeadline(delay) }
        }
        return .ends(next(after: delay, isFree: isFree, remaining: remaining))
    }
}
