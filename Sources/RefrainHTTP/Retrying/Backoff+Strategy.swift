/// A schedule alone is a strategy, too: it retries failures and transient statuses, never a success.
extension Backoff: HTTPRetryStrategy {
    /// The delay for a result of a first attempt.
    public func retryDelay(for result: HTTPResult) -> Duration? {
        RetryPolicy.recommended.with(schedule: self).retryDelay(for: result)
    }

    /// The delay for a result, counted by the attempt.
    public func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration? {
        RetryPolicy.recommended.with(schedule: self).retryDelay(for: result, attempt: attempt)
    }

    /// The decision of ``RetryPolicy/recommended`` on this schedule.
    public func judge(_ facts: RetryFacts, for result: HTTPResult) -> RetryJudgement {
        RetryPolicy.recommended.with(schedule: self).judge(facts)
    }
}
