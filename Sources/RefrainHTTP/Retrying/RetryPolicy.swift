/// The built-in strategy: what is worth another try, how often, and when.
///
/// ``recommended`` is the policy of Documentation/Rules.md. `RetryPolicy()`, and the initializer with
/// Alamofire's six settings, decide by fixed lists as Alamofire's policy does.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended) --> CurlLoader()
/// request.retryStrategy = try RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(1)))
/// ```
public struct RetryPolicy: HTTPRetryStrategy, Hashable {
    /// How outcomes are told apart.
    public enum Criteria: Hashable, Sendable {
        /// By rules R1 to R11; further methods may be declared repeatable, and statuses replaced or added.
        case rules(repeatable: Set<HTTPMethod> = [], statuses: Set<HTTPStatus>? = nil, added: Set<HTTPStatus> = [])
        /// By three lists, in the order method, status, error code.
        case lists(methods: Set<HTTPMethod>, statuses: Set<HTTPStatus>, errors: Set<HTTPError.Code>)
    }

    /// How outcomes are told apart.
    public var criteria: Criteria
    /// When the tries come, and how many there are.
    public var schedule: Backoff
    /// How the server's rate-limit fields are read.
    public var rateLimitFields: RateLimitFields

    /// Makes a policy.
    public init(
        criteria: Criteria,
        schedule: Backoff = .standard,
        rateLimitFields: RateLimitFields = RateLimitFields()
    ) {
        self.criteria = criteria
        self.schedule = schedule
        self.rateLimitFields = rateLimitFields
    }

    /// The policy that the rules describe: what `Session()` and `refrain get` use when told nothing else.
    public static let recommended = RetryPolicy(criteria: .rules())

    /// The same policy with another schedule.
    public func with(schedule: Backoff) -> RetryPolicy {
        var copy = self
        copy.schedule = schedule
        return copy
    }

    /// The delay for a result of a first attempt, without a look at the rules on sending again.
    public func retryDelay(for result: HTTPResult) -> Duration? {
        retryDelay(for: result, attempt: .first)
    }

    /// The delay for a result, without a look at the rules on sending again.
    ///
    /// Use ``judge(_:for:)`` for the whole decision.
    public func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration? {
        let request: HTTPRequest
        switch result {
        case .success(let response): request = response.request
        case .failure(let error): request = error.request
        }
        let facts = RetryFacts(request, result, attempt: attempt, remaining: nil, now: .now)
        guard case .retry(let wait) = judge(facts).action else { return nil }
        return wait.drawn(using: .shared)
    }

    /// The whole decision.
    public func judge(_ facts: RetryFacts, for result: HTTPResult) -> RetryJudgement { judge(facts) }

    /// The whole decision, from facts alone: what `refrain explain` asks, and what the chain asks.
    public func judge(_ facts: RetryFacts) -> RetryJudgement {
        let cause: RetryReason
        var rules: Rules
        switch verdict(on: facts) {
        case .success: return .finish(.succeeded)
        case .final(let reason, let by): return .finish(reason, by)
        case .transient(let reason, let by): (cause, rules) = (reason, by)
        }
        switch ReplaySafety.judge(facts, repeatable: repeatableMethods) {
        case .unsafe(let reason, let by): return .finish(reason, by)
        case .safe(let by): rules.formUnion(by)
        }
        // A resumption that brought new bytes uses up no try, so it waits as after the tries before it.
        let isFree = (facts.progress ?? 0) > 0
        guard let range = schedule.delayRange(after: Self.countedAttempt(facts)) else {
            return .finish(.triesUsedUp, rules.union(Rules(12)))
        }
        let resumes = facts.progress != nil
        let reason = resumes ? .resumed : cause
        rules.formUnion(resumes ? Rules(11) : [])
        var judgement = RetryTiming.judge(
            facts,
            schedule: range,
            reason: reason,
            rules: rules,
            fields: rateLimitFields
        )
        judgement.isFree = isFree
        return judgement
    }

    /// The attempt as the schedule counts it: one that was free leaves the count where it was.
    private static func countedAttempt(_ facts: RetryFacts) -> Attempt {
        let attempt = facts.attempt
        guard (facts.progress ?? 0) > 0 else { return attempt }
        return Attempt(
            number: attempt.number,
            tries: max(1, attempt.tries - 1),
            previousDelay: attempt.previousDelay,
            remaining: attempt.remaining
        )
    }

    private var repeatableMethods: Set<HTTPMethod> {
        switch criteria {
        case .rules(let repeatable, _, _): repeatable
        case .lists(let methods, _, _): methods
        }
    }

    private func verdict(on facts: RetryFacts) -> Classification.Verdict {
        switch criteria {
        case .lists(let methods, let statuses, let errors):
            return listed(facts, methods, statuses, errors)
        case .rules(_, nil, let added) where added.isEmpty:
            return Classification.recommended(facts)
        case .rules(_, let statuses, let added):
            guard case .status(let status) = facts.outcome else { return Classification.recommended(facts) }
            if added.contains(status) || statuses?.contains(status) == true {
                return .transient(.transientStatus, Rules(7))
            }
            let usual = Classification.recommended(facts)
            guard statuses != nil, case .transient = usual else { return usual }
            return .final(.finalStatus, Rules(7))
        }
    }

    /// Alamofire's order: the limit decides first, then the method, then the status or the failure.
    private func listed(
        _ facts: RetryFacts,
        _ methods: Set<HTTPMethod>,
        _ statuses: Set<HTTPStatus>,
        _ errors: Set<HTTPError.Code>
    ) -> Classification.Verdict {
        let isSpent = schedule.delayRange(after: Self.countedAttempt(facts)) == nil
        switch facts.outcome {
        case .status(let status):
            guard status.rawValue >= 400 || statuses.contains(status) else { return .success }
            guard !isSpent else { return .final(.triesUsedUp, Rules(12)) }
            guard methods.contains(facts.method) else { return .final(.notReplayable, Rules(2)) }
            return statuses.contains(status)
                ? .transient(.transientStatus, Rules(7)) : .final(.finalStatus, Rules(7))
        case .failure(let code):
            guard code != .cancelled else { return .final(.cancelled, Rules(9)) }
            guard !isSpent else { return .final(.triesUsedUp, Rules(12)) }
            guard methods.contains(facts.method) else { return .final(.notReplayable, Rules(2)) }
            // The lists have let the download go on, or try to: to start over is a part of that.
            if facts.startsOver { return .transient(.transientFailure, Rules(11)) }
            return errors.contains(code) ? .transient(.transientFailure, Rules(8)) : .final(.finalFailure, Rules(8))
        }
    }
}
