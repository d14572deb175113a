/// When another try comes, and whether there is time for it (rules R15 to R20): a pure function of the facts.
enum RetryTiming {
    /// Turns the wish for another try into a judgement.
    static func judge(
        _ facts: RetryFacts,
        schedule: ClosedRange<Duration>,
        reason: RetryReason,
        rules: Rules,
        fields: RateLimitFields = RateLimitFields()
    ) -> RetryJudgement {
        var judgement: RetryJudgement
        if let server = ServerDelay.read(facts, fields: fields) {
            let rules = rules.union(server.rules)
            let isTooLong = server.delay > facts.serverDelays.cap
            if isTooLong || facts.remaining.map({ server.delay >= $0 }) ?? false {
                let when = RetryJudgement.Action.comeBack(at: facts.now.advanced(by: server.delay))
                return RetryJudgement(action: when, reason: .comeBackLater, rules: rules.union(Rules(18)))
            }
            // A wait that ends with the deadline leaves no time for the try: jitter takes half of what is left at most.
            let bound = min(
                facts.serverDelays.cap,
                facts.remaining.map { server.delay + ($0 - server.delay) / 2 } ?? facts.serverDelays.cap
            )
            let wait = RetryWait(schedule: schedule, server: server.delay, bound: bound)
            judgement = .retry(wait, reason, rules.union(Rules(17)))
        } else {
            judgement = .retry(RetryWait(schedule: schedule), reason, rules.union(Rules(12)))
        }
        if let remaining = facts.remaining, case .retry(let wait) = judgement.action, wait.range.lowerBound >= remaining
        {
            return .finish(.deadlineExceeded, judgement.rules.union(Rules(20)))
        }
        judgement.needsFreshConnection = Classification.needsFreshConnection(facts)
        return judgement
    }
}
