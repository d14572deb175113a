internal import Refrain
import Refrain

/// What the policy would do, in the words of `refrain explain`.
struct ExplainAnswer {
    /// What would follow.
    enum Decision: String {
        case retry
        case finish
        case comeBack = "come_back"
    }

    let decision: Decision
    let reason: RetryReason
    let rules: Rules
    /// The wait before the next try, in seconds.
    let delay: ClosedRange<Double>?
    /// When the server wants the client back, in seconds since 1970.
    let comeBackAt: Double?

    init(_ judgement: RetryJudgement) {
        reason = judgement.reason
        rules = judgement.rules
        switch judgement.action {
        case .finish:
            (decision, delay, comeBackAt) = (.finish, nil, nil)
        case .retry(let wait):
            let range = wait.range
            decision = .retry
            delay = range.lowerBound.inSeconds...range.upperBound.inSeconds
            comeBackAt = nil
        case .comeBack(let date):
            (decision, delay, comeBackAt) = (.comeBack, nil, date.sinceEpoch.inSeconds)
        }
    }

    /// The answer as an object.
    var json: JSON {
        .object([
            ("decision", .string(decision.rawValue)),
            ("reason", .string(reason.rawValue)),
            ("rules", .array(rules.names.map(JSON.string))),
            ("delay_min", .optional(delay) { .rounded($0.lowerBound, places: 6) }),
            ("delay_max", .optional(delay) { .rounded($0.upperBound, places: 6) }),
            ("come_back_at", .optional(comeBackAt) { .rounded($0, places: 3) }),
        ])
    }
}
