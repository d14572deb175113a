/// What shall follow an attempt, why, and by which rules.
public struct RetryJudgement: Sendable, Hashable {
    /// What shall follow.
    public enum Action: Sendable, Hashable {
        /// The outcome stands.
        case finish
        /// Another try, after a wait.
        case retry(RetryWait)
        /// The outcome stands, since the server wants a longer wait than allowed (rule R18).
        case comeBack(at: WallInstant)
    }

    /// What shall follow.
    public var action: Action
    /// Why.
    public var reason: RetryReason
    /// The rules that decided.
    public var rules: Rules
    /// Whether the next try uses up none of the allowed tries (rule R11).
    public var isFree = false
    /// Whether the next try must go over another connection (rule R7).
    public var needsFreshConnection = false

    /// Whether the next try draws on the budget; the one replay after a token refresh does not (rule R23).
    public var drawsOnBudget = true

    /// The outcome stands.
    public static func finish(_ reason: RetryReason, _ rules: Rules = []) -> RetryJudgement {
        RetryJudgement(action: .finish, reason: reason, rules: rules)
    }

    /// Another try follows.
    public static func retry(_ wait: RetryWait, _ reason: RetryReason, _ rules: Rules = []) -> RetryJudgement {
        RetryJudgement(action: .retry(wait), reason: reason, rules: rules)
    }
}
