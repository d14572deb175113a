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

/// What the policy would do, in the words of `refrain explain`.
struct ExplainAnswer {
    /// What would follow.
    enum Decision: String {
        case retry
        case finish
        case retryAfterTooLong = "come_back"
    }

    let decision: Decision
    let reason: RetryReason
    let rules: Rules
    /// The wait before the next attempt, in seconds.
    let delay: ClosedRange<Double>?
    /// When the server wants the client back, in seconds since 1970.
    let retryAfterDate: Double?
    /// What covers the retry, or why nothing does; nil where the budget was not asked about.
    let credit: ExplainCredit?

    init(_ decision: RetryDecision, _ credit: ExplainCredit? = nil) {
        self.credit = credit
        reason = decision.reason
        rules = decision.rules
        switch decision.action {
        case .finish:
            (self.decision, delay, retryAfterDate) = (.finish, nil, nil)
        case .retry(let wait):
            let range = wait.range
            self.decision = .retry
            delay = range.lowerBound.inSeconds...range.upperBound.inSeconds
            retryAfterDate = nil
        case .retryAfterTooLong(let date):
            (self.decision, delay, retryAfterDate) = (.retryAfterTooLong, nil, date.sinceEpoch.inSeconds)
        }
    }

    /// The answer as an object.
    var json: JSON {
        var members: [(String, JSON)] = [
            ("decision", .string(decision.rawValue)),
            ("reason", .string(reason.rawValue)),
            ("rules", .array(rules.names.map(JSON.string))),
            ("delay_min", .optional(delay) { .rounded($0.lowerBound, places: 6) }),
            ("delay_max", .optional(delay) { .rounded($0.upperBound, places: 6) }),
            ("come_back_at", .optional(retryAfterDate) { .rounded($0, places: 3) }),
        ]
        if let credit {
            members.append(("credit", .string(credit.credit.rawValue)))
            members.append(("chance", .rounded(credit.chance, places: 6)))
        }
        return .object(members)
    }
}
