/// What a retry is paid for, where budgets have prices (see ``RetryBudget/tokens(capacity:costs:refund:)``).
enum BudgetCause {
    static func of(_ result: HTTPResult, _ decision: RetryDecision) -> RetryBudget.Cause {
        switch result {
        case .failure(let error): error.code == .timedOut ? .timeout : .transient
        case .success(let response):
            // A server that names a time asks for rest, whatever its status.
            if response.status == .tooManyRequests || !decision.rules.isDisjoint(with: [.retryAfter, .rateLimit]) {
                .throttled
            } else {
                response.status == .serviceUnavailable ? .unavailable : .transient
            }
        }
    }
}
