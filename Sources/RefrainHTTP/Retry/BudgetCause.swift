/// What a retry is paid for, where the budget asks for the kind of failure (see ``RetryBudget/Cause``).
package enum BudgetCause {
    static func of(_ result: HTTPResult, _ decision: RetryDecision) -> RetryBudget.Cause {
        switch result {
        case .failure(let error): of(.failure(error.code), decision.rules)
        case .success(let response): of(.status(response.status), decision.rules)
        }
    }

    /// The cause of a retry after an outcome, by the rules that decided on it.
    package static func of(_ outcome: RetryContext.Outcome, _ rules: Rules) -> RetryBudget.Cause {
        switch outcome {
        case .failure(let code): code == .timedOut ? .timeout : .transient
        // A server that names a time asks for rest, whatever its status.
        case .status where !rules.isDisjoint(with: [.retryAfter, .rateLimit]): .throttled
        case .status(.tooManyRequests): .throttled
        case .status(let status): status == .serviceUnavailable ? .unavailable : .transient
        }
    }
}
