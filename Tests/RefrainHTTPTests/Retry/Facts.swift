import RefrainHTTP

/// The facts of one attempt, with what a test does not name at its plainest.
func facts(
    _ method: HTTPMethod = .get,
    _ outcome: RetryContext.Outcome,
    headers: HTTPHeaders = [:],
    bytesSent: Int64? = 120,
    body: HTTPBody.Replayability = .none,
    key: Bool = false,
    replay: HTTPRequest.Replay = .automatic,
    attempt: Int = 1,
    remaining: Duration? = nil,
    retryAfterPolicy: RetryAfterPolicy = .honoured,
    progress: Int64? = nil,
    now: WallClock.Instant = WallClock.Instant(sinceEpoch: .seconds(1_559_559_600))
) -> RetryContext {
    var facts = RetryContext(method: method, outcome: outcome, now: now)
    facts.headers = headers
    facts.bytesSent = bytesSent
    facts.body = body
    facts.hasIdempotencyKey = key
    facts.replay = replay
    facts.attempt = Attempt(number: attempt)
    facts.remaining = remaining
    facts.retryAfterPolicy = retryAfterPolicy
    facts.progress = progress
    return facts
}

extension RetryDecision {
    /// The range of the wait, or nil where there is none.
    var range: ClosedRange<Duration>? {
        if case .retry(let wait) = action { return wait.range }
        return nil
    }

    var retries: Bool { range != nil }
}
