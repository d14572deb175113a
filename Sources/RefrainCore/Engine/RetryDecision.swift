/// What follows an attempt.
public enum RetryDecision<Outcome> {
    /// The call ends with this outcome.
    case finish(Outcome, RetryReason)

    /// Another attempt follows after a wait.
    ///
    /// - `after`: the wait. Negative waits count as zero; waits beyond `Duration.longestDelay` are cut to it.
    /// - `isFree`: whether the next attempt uses up no try (see ``Attempt/tries``).
    case retry(after: Duration, RetryReason, isFree: Bool = false)
}

extension RetryDecision: Sendable where Outcome: Sendable {}
