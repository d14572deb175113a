/// How long the server wants to be left alone (rules R15, R16 and R19): a pure function of the facts.
struct ServerRetryDelay {
    /// The wait, from now.
    let delay: Duration
    /// The rules that gave it.
    let rules: Rules

    /// Reads `Retry-After`, and where there is none the rate-limit fields of a refusal.
    static func read(_ facts: RetryContext, fields: RateLimiter.Fields) -> ServerRetryDelay? {
        guard facts.retryAfterPolicy.isHonoured else { return nil }
        if let retryAfter = retryAfter(in: facts) {
            let delay = retryAfter.delay(
                date: facts.headers[values: "Date"],
                age: facts.headers[values: "Age"],
                wallClock: facts.now
            )
            if case .date = retryAfter { return ServerRetryDelay(delay: delay, rules: [.retryAfter, .responseDate]) }
            return ServerRetryDelay(delay: delay, rules: [.retryAfter])
        }
        // The fields are there with every answer, a redirect's, too; only a refusal says that the limit was reached.
        guard case .status(let status) = facts.outcome, status.rawValue >= 400,
            let limit = fields.binding(wallClock: facts.now, values: { facts.headers[values: $0] }),
            // A 429 speaks of a limit by itself. Any other refusal does only where the limit is known to be used up.
            status == .tooManyRequests || limit.remaining == 0,
            let delay = limit.retryDelay
        else { return nil }
        return ServerRetryDelay(delay: delay, rules: [.rateLimit])
    }

    /// The value of a well-formed `Retry-After`, or of its like in milliseconds.
    static func retryAfter(in facts: RetryContext) -> RetryAfter? {
        RetryAfter.read(facts.headers, now: facts.now)
    }
}
