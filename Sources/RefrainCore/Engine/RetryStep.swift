extension Attempt {
    /// What follows an attempt of an operation, as the `decide` closure of `withRetry` returns it.
    public enum Step<Outcome> {
        /// The call ends with this outcome.
        case finish(Outcome, RetryReason)

        /// Another attempt follows after a delay.
        ///
        /// - `after`: the delay. Clamped to zero … `Duration.longestDelay`.
        /// - `isFree`: whether the next attempt does not count towards the limit (see ``Attempt/countedAttempts``).
        case retry(after: Duration, RetryReason, isFree: Bool = false)
    }
}

extension Attempt.Step: Sendable where Outcome: Sendable {}
