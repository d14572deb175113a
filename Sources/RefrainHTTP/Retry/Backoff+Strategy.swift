/// A schedule is a strategy, too: it retries what ``RetryPolicy/recommended`` retries, at its own delays.
extension Backoff: HTTPRetryStrategy {
    /// Returns the delay after a first attempt, without applying the rules on repetition.
    public func retryDelay(for result: HTTPResult) -> Duration? {
        RetryPolicy.recommended.with(schedule: self).retryDelay(for: result)
    }

    /// Returns the decision of ``RetryPolicy/recommended`` on this schedule.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        RetryPolicy.recommended.with(schedule: self).decide(in: context)
    }
}

extension RetryStrategy where Self == Backoff {
    /// No retries.
    public static var never: Backoff { Backoff.never }

    /// Retries without a delay.
    public static func immediately(maxAttempts: Int? = 3) -> Backoff { Backoff.immediately(maxAttempts: maxAttempts) }

    /// Retries after the same delay each.
    public static func constant(delay: Duration, maxAttempts: Int? = 3) -> Backoff {
        Backoff.constant(delay: delay, maxAttempts: maxAttempts)
    }

    /// Retries after delays that grow by a factor.
    public static func exponential(from base: Duration, factor: Double = 2, maxAttempts: Int? = 3) -> Backoff {
        Backoff.exponential(from: base, factor: factor, maxAttempts: maxAttempts)
    }

    /// Retries after the delays of a list.
    public static func explicit(_ delays: [Duration], maxAttempts: Int? = nil) -> Backoff {
        Backoff.explicit(delays, maxAttempts: maxAttempts)
    }
}
