import RefrainHTTP

/// The facts of one attempt, with what a test does not name at its plainest.
func facts(
    _ method: HTTPMethod = .get,
    _ outcome: RetryFacts.Outcome,
    headers: HTTPHeaders = [:],
    bytesSent: Int64? = 120,
    body: HTTPBody.Replayability = .none,
    key: Bool = false,
    replay: ReplayPermission = .automatic,
    attempt: Int = 1,
    remaining: Duration? = nil,
    serverDelays: ServerDelays = .honoured,
    progress: Int64? = nil,
    now: WallInstant = WallInstant(sinceEpoch: .seconds(1_559_559_600))
) -> RetryFacts {
    var facts = RetryFacts(method: method, outcome: outcome, now: now)
    facts.headers = headers
    facts.bytesSent = bytesSent
    facts.body = body
    facts.hasIdempotencyKey = key
    facts.replay = replay
    facts.attempt = Attempt(number: attempt)
    facts.remaining = remaining
    facts.serverDelays = serverDelays
    facts.progress = progress
    return facts
}

extension RetryJudgement {
    /// The range of the wait, or nil where there is none.
    var range: ClosedRange<Duration>? {
        if case .retry(let wait) = action { return wait.range }
        return nil
    }

    var retries: Bool { range != nil }
}
