// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The question of `refrain explain`: a context, and the policy that decides.
struct ExplainQuestion {
    var context: RetryContext
    var policy: RetryPolicy
    /// The policy of `refrain get`, which decides instead if the question has a time window.
    var command: CommandPolicy?
    /// The attempt of a report that the question is about; nil: it is about none.
    var recorded: ReportRecord.Line?
    /// The budget; nil if the question has none.
    var budget: ExplainBudget?

    /// The answer, by the code that requests run.
    var answer: ExplainAnswer {
        let decision = command?.decide(in: context) ?? policy.decide(in: context)
        guard let budget, let credit = budget.credit(context, decision) else { return ExplainAnswer(decision) }
        guard !credit.credit.isGranted else { return ExplainAnswer(decision, credit) }
        let rules: Rules = credit.credit == .closed ? [.budget, .fleet] : [.budget]
        return ExplainAnswer(.finish(.budgetExhausted, decision.rules.union(rules)), credit)
    }
}

/// Bounds of a question, so that no time can overflow.
enum ExplainLimits {
    /// Instants from the year 0 to the year 9999.
    static let now = -62_167_219_200.0...253_402_300_799.0
    /// Statuses have three digits (RFC 9110 §15).
    static let status = 100...999
}

/// The decision of the policy, as `refrain explain` prints it.
struct ExplainAnswer {
    /// The decision.
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
    /// The date of the server's delay, in seconds since 1970.
    let retryAfterDate: Double?
    /// What covers the retry, or why nothing does; nil without a budget.
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
