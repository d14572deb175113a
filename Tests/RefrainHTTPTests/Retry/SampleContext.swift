// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP

/// A context of one attempt.
///
/// What a test does not name has its simplest value.
func context(
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
    var context = RetryContext(method: method, outcome: outcome, now: now)
    context.headers = headers
    context.bytesSent = bytesSent
    context.body = body
    context.hasIdempotencyKey = key
    context.replay = replay
    context.attempt = Attempt(number: attempt)
    context.remaining = remaining
    context.retryAfterPolicy = retryAfterPolicy
    context.progress = progress
    return context
}

extension RetryDecision {
    /// The range of the wait, or nil where there is none.
    var range: ClosedRange<Duration>? {
        if case .retry(let wait) = action { return wait.range }
        return nil
    }

    var retries: Bool { range != nil }
}
