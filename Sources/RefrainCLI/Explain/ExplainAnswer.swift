internal import Refrain
import Refrain

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
