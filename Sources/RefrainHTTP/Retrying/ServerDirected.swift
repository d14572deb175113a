/// The strategy for a server that says when to come back: its fields set the wait, the schedule is for answers without.
///
/// It retries what ``RetryPolicy/recommended`` retries. What it adds is a reading of the server's rate-limit
/// fields, where the automatic one does not fit them.
public struct ServerDirected: HTTPRetryStrategy {
    private let policy: RetryPolicy

    /// Makes the strategy.
    ///
    /// - Parameters:
    ///   - fields: how the server's rate-limit fields are read (rule R19).
    ///   - fallback: the schedule for answers that say nothing, and the number of tries.
    public init(fields: RateLimitFields = RateLimitFields(), fallback: Backoff = .standard) {
        policy = RetryPolicy(criteria: .rules(), schedule: fallback, rateLimitFields: fields)
    }

    /// The delay for a result of a first attempt.
    public func retryDelay(for result: HTTPResult) -> Duration? { policy.retryDelay(for: result) }

    /// The delay for a result, counted by the attempt.
    public func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration? {
        policy.retryDelay(for: result, attempt: attempt)
    }

    /// The whole decision.
    public func judge(_ facts: RetryFacts, for result: HTTPResult) -> RetryJudgement { policy.judge(facts) }
}
