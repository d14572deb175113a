/// Everything that a decision about another try stands on.
///
/// It is a value, so that a decision can be asked for without a request.
public struct RetryFacts: Sendable {
    /// What an attempt came to.
    public enum Outcome: Hashable, Sendable {
        /// A response with this status.
        case status(HTTPStatus)
        /// A failure of this kind.
        case failure(HTTPError.Code)
    }

    /// What was asked.
    public var method: HTTPMethod
    /// What came of it.
    public var outcome: Outcome
    /// The response's header fields; none for a failure.
    public var headers: HTTPHeaders = [:]
    /// The bytes of the request that can have left; nil where that is unknown.
    public var bytesSent: Int64?
    /// Whether the body can be sent again.
    public var body = HTTPBody.Replayability.none
    /// Whether the request carries an idempotency key (rule R5).
    public var hasIdempotencyKey = false
    /// What the caller says about sending again (rule R2).
    public var replay = ReplayPermission.automatic
    /// The attempt that was made.
    public var attempt = Attempt.first
    /// The time until the deadline, now; nil: none.
    public var remaining: Duration?
    /// How far the server's wishes count (rule R18).
    public var serverDelays = ServerDelays.honoured
    /// The wall clock's time of day, now.
    public var now: WallInstant
    /// Whether the outcome follows another exchange of the same attempt, which may have been processed (rule R2).
    ///
    /// It does where a POST was answered by a redirect, and this came of the page behind it: that proves nothing of the
    /// POST.
    public var followsProcessed = false
    /// The new bytes that a resumption brought before it was cut short; nil where no download can go on (rule R11).
    public var progress: Int64?
    /// Whether a download is to start over, since what came was no rest of it (rule R11).
    public var startsOver = false

    /// Gathers the facts of an attempt; the optional ones are set one by one.
    public init(method: HTTPMethod, outcome: Outcome, now: WallInstant) {
        self.method = method
        self.outcome = outcome
        self.now = now
    }

    /// Gathers the facts of a result.
    public init(_ request: HTTPRequest, _ result: HTTPResult, attempt: Attempt, remaining: Duration?, now: WallInstant)
    {
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
        }
        body = request.body.replayability
        hasIdempotencyKey = request.hasIdempotencyKey
        // A stage further in, such as an adapter, may have made another request of it. Where that one must not be sent
        // twice, it is what counts.
        let sent = result.request
        if !sent.method.isIdempotent {
            if method.isIdempotent { method = sent.method }
            hasIdempotencyKey = hasIdempotencyKey && sent.hasIdempotencyKey
        }
        followsProcessed = Self.followsProcessed(result, sent, request)
        if followsProcessed { bytesSent = nil }
        replay = request.replay
        serverDelays = request.serverDelays
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

extension HTTPResult {
    /// The request as it was sent last, as far as that is known.
    var request: HTTPRequest {
        switch self {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }
}
