internal import Refrain

/// What `refrain explain` is asked: facts, and the policy that shall judge them.
struct ExplainQuestion {
    var facts: RetryContext
    var policy: RetryPolicy
    /// The policy of `refrain get`, where its time was asked about: it judges instead.
    var command: CommandPolicy?
    /// The budget; nil where it was not asked about.
    var budget: ExplainBudget?

    /// The answer of the very code that requests run.
    var answer: ExplainAnswer {
        let decision = command?.decide(in: facts) ?? policy.decide(in: facts)
        guard let budget, let credit = budget.credit(facts, decision) else { return ExplainAnswer(decision) }
        guard !credit.credit.isGranted else { return ExplainAnswer(decision, credit) }
        let rules: Rules = credit.credit == .closed ? [.budget, .fleet] : [.budget]
        return ExplainAnswer(.finish(.budgetExhausted, decision.rules.union(rules)), credit)
    }
}

/// Bounds of what can be asked, so that no time can overflow.
enum ExplainLimits {
    /// Instants from the year 0 to the year 9999.
    static let now = -62_167_219_200.0...253_402_300_799.0
    /// Statuses have three digits (RFC 9110 §15).
    static let status = 100...999
}
