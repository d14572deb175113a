/// What a decision about another attempt is based on.
///
/// A value, so that `refrain explain` can ask for a decision without a request.
public struct RetryContext: Sendable {
    /// What an attempt came to.
    package enum Outcome: Hashable, Sendable {
        /// A response with this status.
        case status(HTTPStatus)
        /// A failure of this kind.
        case failure(HTTPError.Code)
    }

    /// The method of the request.
    public var method: HTTPMethod
    /// The status of the response, or the code of the failure.
    package var outcome: Outcome
    /// The response's header fields; for a failure those of a proxy that refused to connect, if there was one.
    package var headers: HTTPHeaders = [:]
    /// The bytes of the request that can have left; nil where that is unknown.
    public var bytesSent: Int64?
    /// Whether the body can be sent again.
    package var body = HTTPBody.Replayability.none
    /// Whether the request carries an idempotency key (rule R5).
    package var hasIdempotencyKey = false
    /// What the caller says about sending again (rule R2).
    package var replay = ReplayPermission.automatic
    /// The attempt that the decision follows.
    public var attempt = Attempt.first
    /// What is left of the timeout of the call; nil: it has none.
    public var remaining: Duration?
    /// How far the server's delays are honoured (rule R18).
    package var retryAfterPolicy = RetryAfterPolicy.honoured
    /// The present on the wall clock.
    package var now: WallClock.Instant
    /// Whether the outcome follows another exchange of the same attempt, which may have been processed (rule R2).
    ///
    /// It does where a POST was answered by a redirect, and this came of the page behind it: that proves nothing of the
    /// POST.
    package var followsProcessed = false
    /// The new bytes that a resumption brought before it was cut short; nil where no download can go on (rule R11).
    package var progress: Int64?
    /// Whether a download is to start over, since what came was no rest of it (rule R11).
    package var startsOver = false
    /// Whether a status validation of the caller's accepted the response's status.
    package var isStatusAccepted = false
    /// Whether the attempt runs within an attempt of an outer retry stage, which has all the retries (rule R24).
    package var isNested = false

    /// How long the attempts have failed without progress: since the first one failed, or since the last resumption
    /// that brought new bytes.
    package var failingFor = Duration.zero

    /// Makes the context of an attempt; the optional fields are set one by one.
    package init(method: HTTPMethod, outcome: Outcome, now: WallClock.Instant) {
        self.method = method
        self.outcome = outcome
        self.now = now
    }

    /// Makes the context of a result.
    package init(
        _ request: HTTPRequest,
        _ result: HTTPResult,
        attempt: Attempt,
        remaining: Duration?,
        now: WallClock.Instant
    ) {
        switch result {
        case .success(let response):
            self.init(method: request.method, outcome: .status(response.status), now: now)
            headers = response.headers
            bytesSent = response.exchange.bytesSent
        case .failure(let error):
            self.init(method: request.method, outcome: .failure(error.code), now: now)
            bytesSent = error.bytesSent
            progress = error.progress
            startsOver = error.startsOver
            if let proxy = error.proxyAnswer { headers = proxy.headers }
        }
        body = request.body.replayability
        hasIdempotencyKey = request.hasIdempotencyKey
        // A stage further in, such as an adapter, may have replaced the request. Where the replacement must not be sent
        // twice, it decides.
        let sent = result.request
        if !sent.method.isIdempotent {
            if method.isIdempotent { method = sent.method }
            hasIdempotencyKey = hasIdempotencyKey && sent.hasIdempotencyKey
        }
        followsProcessed = Self.followsProcessed(result, sent, request)
        if followsProcessed { bytesSent = nil }
        replay = request.replay
        retryAfterPolicy = request.retryAfterPolicy
        self.attempt = attempt
        self.remaining = remaining
    }

    /// Whether stages further in have made several exchanges of the attempt, of which one before the last may have been
    /// processed.
    private static func followsProcessed(_ result: HTTPResult, _ sent: HTTPRequest, _ request: HTTPRequest) -> Bool {
        if !result.attempts.dropLast().allSatisfy(ReplaySafety.wasNotProcessed) { return true }
        // Who follows redirects without a record of it still has another method in the end.
        return sent.method != request.method && sent.method.isIdempotent && !request.method.isIdempotent
    }
}
