/// Decides when another attempt follows, and whether there is time for it (rules R15 to R20).
enum RetryTiming {
    /// Returns the decision for a retry that is wanted: after which delay it follows, or why it does not.
    static func decide(
        _ context: RetryContext,
        schedule: ClosedRange<Duration>,
        reason: RetryReason,
        rules: Rules,
        fields: RateLimiter.Fields = RateLimiter.Fields()
    ) -> RetryDecision {
        var decision: RetryDecision
        let cap = context.retryAfterPolicy.cap
        if let server = ServerRetryDelay.read(context, fields: fields) {
            let rules = rules.union(server.rules)
            if server.delay > cap || context.remaining.map({ server.delay >= $0 }) ?? false {
                let action = RetryDecision.Action.retryAfterTooLong(until: context.now.advanced(by: server.delay))
                return RetryDecision(action: action, reason: .retryAfterTooLong, rules: rules.union([.delayCap]))
            }
            // A delay that ends at the deadline leaves no time for the attempt: jitter adds at most half of the rest.
            let bound = min(cap, context.remaining.map { server.delay + ($0 - server.delay) / 2 } ?? cap)
            let delay = RetryDecision.Delay(schedule: schedule, server: server.delay, bound: bound)
            decision = .retry(delay, reason, rules.union([.longerDelay]))
        } else {
            decision = .retry(RetryDecision.Delay(schedule: schedule), reason, rules.union([.schedule]))
        }
        if let remaining = context.remaining, case .retry(let delay) = decision.action,
            delay.range.lowerBound >= remaining
        {
            return .finish(.deadlineExceeded, decision.rules.union([.deadline]))
        }
        decision.needsFreshConnection = Classification.needsFreshConnection(context)
        return decision
    }
}
