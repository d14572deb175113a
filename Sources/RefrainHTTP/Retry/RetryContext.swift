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

    // On the heap, because it passes through the frames of several asynchronous functions.
    private var contents: CopyOnWriteBox<Fields>

    /// The method of the request.
    public var method: HTTPMethod {
        get { contents.fields.method }
        _modify { yield &contents.fields.method }
    }

    /// The status of the response, or the code of the failure.
    package var outcome: Outcome {
        get { contents.fields.outcome }
        _modify { yield &contents.fields.outcome }
    }

    /// The response's header fields; for a failure those of a proxy that refused to connect, if there was one.
    package var headers: HTTPHeaders {
        get { contents.fields.headers }
        _modify { yield &contents.fields.headers }
    }

    /// The bytes of the request that can have left; nil where that is unknown.
    public var bytesSent: Int64? {
        get { contents.fields.bytesSent }
        _modify { yield &contents.fields.bytesSent }
    }

    /// Whether the body can be sent again.
    package var body: HTTPBody.Replayability {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// Whether the request carries an idempotency key (rule R5).
    package var hasIdempotencyKey: Bool {
        get { contents.fields.hasIdempotencyKey }
        _modify { yield &contents.fields.hasIdempotencyKey }
    }

    /// What the caller says about sending again (rule R2).
    package var replay: HTTPRequest.Replay {
        get { contents.fields.replay }
        _modify { yield &contents.fields.replay }
    }

    /// The attempt that the decision follows.
    public var attempt: Attempt {
        get { contents.fields.attempt }
        _modify { yield &contents.fields.attempt }
    }

    /// What is left of the timeout of the call; nil: it has none.
    public var remaining: Duration? {
        get { contents.fields.remaining }
        _modify { yield &contents.fields.remaining }
    }

    /// How far the server's delays are honoured (rule R18).
    package var retryAfterPolicy: RetryAfterPolicy {
        get { contents.fields.retryAfterPolicy }
        _modify { yield &contents.fields.retryAfterPolicy }
    }

    /// The present on the wall clock.
    package var now: WallClock.Instant {
        get { contents.fields.now }
        _modify { yield &contents.fields.now }
    }

    /// Whether the outcome follows another exchange of the same attempt, which may have been processed (rule R2).
    ///
    /// It does where a POST was answered by a redirect, and this came of the page behind it: that proves nothing of the
    /// POST.
    package var followsProcessed: Bool {
        get { contents.fields.followsProcessed }
        _modify { yield &contents.fields.followsProcessed }
    }

    /// The new bytes that a resumption brought before it was cut short; nil where no download can go on (rule R11).
    package var progress: Int64? {
        get { contents.fields.progress }
        _modify { yield &contents.fields.progress }
    }

    /// Whether a download is to start over, since what came was no rest of it (rule R11).
    package var startsOver: Bool {
        get { contents.fields.startsOver }
        _modify { yield &contents.fields.startsOver }
    }

    /// Whether a status validation of the caller's accepted the response's status.
    package var isStatusAccepted: Bool {
        get { contents.fields.isStatusAccepted }
        _modify { yield &contents.fields.isStatusAccepted }
    }

    /// Whether the attempt runs within an attempt of an outer retry stage, which has all the retries (rule R24).
    package var isNested: Bool {
        get { contents.fields.isNested }
        _modify { yield &contents.fields.isNested }
    }

    /// How long the attempts have failed without progress: since the first one failed, or since the last resumption
    /// that brought new bytes.
    package var failingFor: Duration {
        get { contents.fields.failingFor }
        _modify { yield &contents.fields.failingFor }
    }

    /// Makes the context of an attempt; the optional fields are set one by one.
    package init(method: HTTPMethod, outcome: Outcome, now: WallClock.Instant) {
        contents = CopyOnWriteBox(Fields(method: method, outcome: outcome, now: now))
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

    private struct Fields: Sendable {
        var method: HTTPMethod
        var outcome: Outcome
        var headers: HTTPHeaders = [:]
        var bytesSent: Int64?
        var body = HTTPBody.Replayability.none
        var hasIdempotencyKey = false
        var replay = HTTPRequest.Replay.automatic
        var attempt = Attempt.first
        var remaining: Duration?
        var retryAfterPolicy = RetryAfterPolicy.honoured
        var now: WallClock.Instant
        var followsProcessed = false
        var progress: Int64?
        var startsOver = false
        var isStatusAccepted = false
        var isNested = false
        var failingFor = Duration.zero
    }
}
