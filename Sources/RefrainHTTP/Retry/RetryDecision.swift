/// What follows an attempt of a request, why, and by which rules: what a ``RetryStrategy`` returns.
///
/// ```swift
/// let decision: RetryDecision = context.attempt.number < 5 ? .retry(after: .seconds(1)) : .finish()
/// ```
///
/// A delay that a strategy asks for is a wish. The stage that asks holds it against the rules on what may be sent
/// again, the server's own delay, the timeout of the call and the retry budget. The decision of a ``RetryPolicy`` has
/// applied these rules already, and keeps its result when another strategy returns it.
public struct RetryDecision: Sendable {
    /// What follows.
    public enum Action: Sendable, Hashable {
        /// The outcome stands.
        case finish
        /// Another attempt follows after this delay.
        // Indirect: decisions pass through the frames of several asynchronous functions.
        indirect case retry(Delay)
        /// The outcome stands, because the server asks for a longer delay than is allowed (rule R18).
        case retryAfterTooLong(until: WallClock.Instant)
    }

    /// What follows.
    public var action: Action
    /// Why.
    public var reason: RetryReason
    /// The rules that decided.
    public var rules: Rules = []
    /// Whether the next attempt is not counted (rule R11).
    public var isFree = false
    /// Whether the next attempt needs another connection (rule R7).
    package var needsFreshConnection = false
    /// Whether the next attempt draws on the retry budget; the replay after a token refresh does not (rule R23).
    package var drawsOnBudget = true
    /// The error that the call ends with in place of its outcome, or nil.
    package var error: (any Error)?
    /// Whether the rules on repetition and on server delays have been applied.
    var followsRules = true

    /// The outcome stands.
    public static func finish(_ reason: RetryReason = .strategyDeclined) -> RetryDecision {
        RetryDecision(action: .finish, reason: reason)
    }

    /// Another attempt follows after this delay, if the rules allow it; negative delays count as zero.
    public static func retry(after delay: Duration, _ reason: RetryReason = .strategyRetried) -> RetryDecision {
        let delay = delay.clampedToDelay
        var decision = RetryDecision(action: .retry(Delay(schedule: delay...delay)), reason: reason)
        decision.followsRules = false
        return decision
    }

    /// The outcome stands, by these rules.
    package static func finish(_ reason: RetryReason, _ rules: Rules) -> RetryDecision {
        RetryDecision(action: .finish, reason: reason, rules: rules)
    }

    /// Another attempt follows; the rules have been applied.
    package static func retry(_ delay: Delay, _ reason: RetryReason, _ rules: Rules = []) -> RetryDecision {
        RetryDecision(action: .retry(delay), reason: reason, rules: rules)
    }
}

extension RetryDecision {
    /// This decision after the rules on repetition and on server delays (rules R2, R4 and R15 to R20).
    func applyingRules(_ context: RetryContext) -> RetryDecision {
        guard !followsRules, case .retry(let delay) = action else { return self }
        switch ReplaySafety.judge(context) {
        case .unsafe(let reason, let rules):
            return .finish(reason, rules)
        case .safe(let safe):
            let rules = rules.union(safe)
            var decision = RetryTiming.decide(context, schedule: delay.schedule, reason: reason, rules: rules)
            decision.isFree = isFree
            decision.drawsOnBudget = drawsOnBudget
            return decision
        }
    }

    /// This decision with another delay; a server's delay holds where it is the longer one (rule R17).
    package func withDelay(_ wanted: Duration) -> RetryDecision {
        guard case .retry(let delay) = action else { return self }
        let wanted = wanted.clampedToDelay
        let server = delay.server.flatMap { $0 > wanted ? $0 : nil }
        var decision = self
        decision.action = .retry(Delay(schedule: wanted...wanted, server: server, bound: delay.bound))
        return decision
    }
}
