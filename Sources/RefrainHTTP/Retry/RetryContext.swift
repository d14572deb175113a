// SPDX-License-Identifier: Apache-2.0
/// The input of a decision about another attempt.
///
/// A strategy receives one. To test a strategy, or to see what a policy decides, make one; nothing is sent for it:
///
/// ```swift
/// var context = RetryContext(
///     method: .post,
///     outcome: .status(.serviceUnavailable)
/// )
/// context.headers["Retry-After"] = "2"
/// context.hasIdempotencyKey = true
/// let decision = RetryPolicy.recommended.decide(in: context)
/// ```
public struct RetryContext: Sendable {
    /// The outcome of an attempt.
    public enum Outcome: Hashable, Sendable {
        /// A response with this status.
        case status(HTTPStatus)
        /// A failure of this kind.
        case failure(HTTPError.Code)
    }

    private var contents: CopyOnWriteBox<Details>

    /// The values of the properties; those that are not public are set here.
    package var details: Details {
        get { contents.fields }
        _modify { yield &contents.fields }
    }

    /// The method of the request.
    public var method: HTTPMethod {
        get { contents.fields.method }
        _modify { yield &contents.fields.method }
    }

    /// The status of the response, or the code of the failure.
    public var outcome: Outcome {
        get { contents.fields.outcome }
        _modify { yield &contents.fields.outcome }
    }

    /// The response's header fields; for a failure those of a proxy that refused to connect, if there was one.
    public var headers: HTTPHeaders {
        get { contents.fields.headers }
        _modify { yield &contents.fields.headers }
    }

    /// The bytes of the request that can have left; nil where that is unknown.
    public var bytesSent: Int64? {
        get { contents.fields.bytesSent }
        _modify { yield &contents.fields.bytesSent }
    }

    /// Whether the request's body can be sent again (rule R4); defaults to ``HTTPBody/Replayability/none``.
    public var body: HTTPBody.Replayability {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// Whether the request carries an idempotency key (rule R5); defaults to false.
    public var hasIdempotencyKey: Bool {
        get { contents.fields.hasIdempotencyKey }
        _modify { yield &contents.fields.hasIdempotencyKey }
    }

    /// Whether the caller allows the request to be sent again (rule R2).
    ///
    /// Defaults to ``HTTPRequest/Replay/automatic``.
    public var replay: HTTPRequest.Replay {
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

    /// Up to which delay the server's delays are honoured (rule R18); defaults to ``RetryAfterPolicy/honoured``.
    public var retryAfterPolicy: RetryAfterPolicy {
        get { contents.fields.retryAfterPolicy }
        _modify { yield &contents.fields.retryAfterPolicy }
    }

    /// The current time of the wall clock, which dates of the server are compared with.
    public var now: WallClock.Instant { contents.fields.now }

    /// Whether the outcome follows another exchange of the same attempt, which may have been processed (rule R2).
    ///
    /// True if a POST was answered by a redirect and this is the outcome of the redirect's target, which proves nothing
    /// about the POST.
    package var followsProcessed: Bool { contents.fields.followsProcessed }

    /// The new bytes that a resumption brought before it was cut short; nil where no download can go on (rule R11).
    public var progress: Int64? {
        get { contents.fields.progress }
        _modify { yield &contents.fields.progress }
    }

    /// Whether a download must start over, because the response did not continue it (rule R11).
    package var startsOver: Bool { contents.fields.startsOver }

    /// Whether a status validation of the caller accepted the response's status.
    package var isStatusAccepted: Bool { contents.fields.isStatusAccepted }

    /// Whether the attempt runs within an attempt of an outer retry stage, which has all the retries (rule R24).
    package var isNested: Bool { contents.fields.isNested }

    /// How long the attempts have failed without progress.
    ///
    /// Since the first one failed, or since the last resumption that brought new bytes. Defaults to zero.
    public var failingFor: Duration {
        get { contents.fields.failingFor }
        _modify { yield &contents.fields.failingFor }
    }

    /// Makes the context of a first attempt; the other properties are set one by one.
    ///
    /// - Parameters:
    ///   - method: the method of the request.
    ///   - outcome: the status of the response, or the code of the failure.
    ///   - now: the time of the wall clock; defaults to the present one.
    public init(method: HTTPMethod, outcome: Outcome, now: WallClock.Instant = .now) {
        contents = CopyOnWriteBox(Details(method: method, outcome: outcome, now: now))
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
            if response.status.rawValue >= 400, case .bytes = response.body.storage { details.answer = response.body }
            bytesSent = response.exchange.bytesSent
        case .failure(let error):
            self.init(method: request.method, outcome: .failure(error.code), now: now)
            bytesSent = error.bytesSent
            progress = error.progress
            details.startsOver = error.startsOver
            if let proxy = error.proxyAnswer { headers = proxy.headers }
        }
        body = request.body.replayability
        // A stage further in, such as an adapter, may have changed the request or replaced it: what it says of the
        // request counts. Where the replacement must not be sent twice, it decides.
        let sent = result.request.keepingOptions(of: request)
        if method.isIdempotent, !sent.method.isIdempotent { method = sent.method }
        // What follows a redirect to a page says nothing of the request before it.
        let isReplaced = sent.method.isIdempotent && !request.method.isIdempotent
        // A key that is not stored with a durable request is another one after its next claim.
        hasIdempotencyKey = (isReplaced || request.durableCall != nil ? request : sent).hasIdempotencyKey
        details.followsProcessed = Self.followsProcessed(result, sent, request)
        if followsProcessed { bytesSent = nil }
        replay = request.replay == .forbidden ? .forbidden : sent.replay
        retryAfterPolicy = sent.retryAfterPolicy
        self.attempt = attempt
        self.remaining = remaining
    }

    /// Whether stages further in have made several exchanges of the attempt, of which one before the last may have been
    /// processed.
    private static func followsProcessed(_ result: HTTPResult, _ sent: HTTPRequest, _ request: HTTPRequest) -> Bool {
        if !result.attempts.dropLast().allSatisfy(ReplaySafety.wasNotProcessed) { return true }
        // A stage that follows redirects without recording them still ends with another method.
        return sent.method != request.method && sent.method.isIdempotent && !request.method.isIdempotent
    }

    /// The values of the properties above, which describe them.
    package struct Details: Sendable {
        fileprivate var method: HTTPMethod
        fileprivate var outcome: Outcome
        fileprivate var headers: HTTPHeaders = [:]
        fileprivate var bytesSent: Int64?
        fileprivate var body = HTTPBody.Replayability.none
        fileprivate var hasIdempotencyKey = false
        fileprivate var replay = HTTPRequest.Replay.automatic
        fileprivate var attempt = Attempt.first
        fileprivate var remaining: Duration?
        fileprivate var retryAfterPolicy = RetryAfterPolicy.honoured
        fileprivate let now: WallClock.Instant
        fileprivate var progress: Int64?
        fileprivate var failingFor = Duration.zero
        package var followsProcessed = false
        package var startsOver = false
        package var isStatusAccepted = false
        package var isNested = false
        /// The body of an answer of 400 or more, where it is in memory.
        package var answer: HTTPBody?
        /// What a profile has read in the answer.
        package var advice: ServerAdvice?
    }
}
