/// The strategy for a server that says when to come back: its fields set the wait, the schedule is for answers without.
///
/// It retries what ``RetryPolicy/recommended`` retries. What it adds is a reading of the server's rate-limit
/// fields, where the automatic one does not fit them.
public struct RetryAfterStrategy: HTTPRetryStrategy {
    private let policy: RetryPolicy

    /// Makes the strategy.
    ///
    /// - Parameters:
    ///   - fields: how the server's rate-limit fields are read (rule R19).
    ///   - fallback: the schedule for answers that say nothing, and the number of attempts.
    public init(fields: RateLimiter.Fields = RateLimiter.Fields(), fallback: Backoff = .standard) {
        policy = RetryPolicy(criteria: .rules(), schedule: fallback, rateLimitFields: fields)
    }

    /// Returns the delay after a first attempt, without applying the rules on repetition.
    public func retryDelay(for result: HTTPResult) -> Duration? { policy.retryDelay(for: result) }

    /// Returns the policy's decision.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        policy.decide(in: context)
    }
}
