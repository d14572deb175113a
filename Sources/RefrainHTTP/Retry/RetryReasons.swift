// SPDX-License-Identifier: Apache-2.0
extension RetryReason {
    /// The status is one after which another attempt may succeed (rule R7).
    public static let transientStatus = RetryReason(rawValue: "transientStatus")
    /// The status is one that another attempt does not change (rule R7).
    public static let finalStatus = RetryReason(rawValue: "finalStatus")
    /// The failure is one after which another attempt may succeed (rule R8).
    public static let transientFailure = RetryReason(rawValue: "transientFailure")
    /// The failure is one that another attempt does not change (rule R8).
    public static let finalFailure = RetryReason(rawValue: "finalFailure")
    /// The request may have been processed, and must not be processed twice (rule R2).
    public static let notReplayable = RetryReason(rawValue: "notReplayable")
    /// The caller does not allow the request to be sent again (rule R2).
    public static let replayForbidden = RetryReason(rawValue: "replayForbidden")
    /// The body can be read only once, and was (rule R4).
    public static let bodyNotReplayable = RetryReason(rawValue: "bodyNotReplayable")
    /// The time that the strategy allows for attempts is over.
    ///
    /// A strategy of your own returns it; ``RetryReason/deadlineExceeded`` is the timeout of the call itself.
    public static let timeUsedUp = RetryReason(rawValue: "timeUsedUp")
    /// The retry budget of the origin is empty: a local limit; no request was sent (rule R22).
    public static let budgetExhausted = RetryReason(rawValue: "budgetExhausted")
    /// The server requests a delay that is longer than allowed (rule R18).
    public static let retryAfterTooLong = RetryReason(rawValue: "retryAfterTooLong")
    /// A download that was cut short goes on where it stopped (rule R11).
    public static let resumed = RetryReason(rawValue: "resumed")
    /// The response points elsewhere (rule R26).
    public static let redirected = RetryReason(rawValue: "redirected")
    /// The target of a redirect could not be reached, so the request is sent to its origin again (rule R33).
    public static let originAskedAgain = RetryReason(rawValue: "originAskedAgain")
    /// A retry stage further out makes the attempts (rule R24).
    public static let nested = RetryReason(rawValue: "nested")
    /// No strategy was given for the request.
    public static let noStrategy = RetryReason(rawValue: "noStrategy")
    /// The request's strategy returned no delay.
    public static let strategyDeclined = RetryReason(rawValue: "strategyDeclined")
    /// The request's strategy returned a delay.
    public static let strategyRetried = RetryReason(rawValue: "strategyRetried")
    /// A check of the caller rejected the response.
    public static let validationFailed = RetryReason(rawValue: "validationFailed")
    /// The credentials were refreshed, and the request is sent once more (rule R27).
    public static let credentialsRefreshed = RetryReason(rawValue: "credentialsRefreshed")

    /// The server says that another attempt is not worth it (``ServerProfile/retryHints``).
    public static let declinedByServer = RetryReason(rawValue: "declinedByServer")
    /// A limit is used up that no wait helps against, such as one of spending (``ServerProfile/finalCodes``).
    public static let quotaSpent = RetryReason(rawValue: "quotaSpent")

    /// The request was delayed, because a rate limit of its origin is used up (rule R19).
    public static let paced = RetryReason(rawValue: "paced")

    /// The reasons after which an outer loop adds no attempts either: all attempts are made, or must not be made.
    fileprivate static let terminal: Set<RetryReason> = [
        .attemptsUsedUp, .timeUsedUp, .budgetExhausted, .deadlineExceeded, .retryAfterTooLong, .exhaustedWithin,
        .notReplayable, .replayForbidden, .bodyNotReplayable, .strategyDeclined, .declinedByServer, .quotaSpent,
    ]

    /// The reasons of attempts that follow another one without being retries.
    fileprivate static let follows: Set<RetryReason> = [.redirected, .credentialsRefreshed]
}

extension HTTPError.Code {
    /// The reason that corresponds to this code, if the code alone rules out another attempt; otherwise nil.
    var endingReason: RetryReason? {
        switch self {
        case .retryAfterTooLong, .circuitOpen: .retryAfterTooLong
        case .deadlineExceeded: .deadlineExceeded
        default: nil
        }
    }
}

extension [AttemptRecord] {
    /// Whether a call with this record is not repeated by an outer loop (rule R24).
    ///
    /// Its attempts, budget or time are used up, the request must not be sent twice, or the caller's own retrier
    /// declined. A schedule that allows no retries has used up nothing.
    package var retriesAreExhausted: Bool {
        guard let reason = last?.reason, RetryReason.terminal.contains(reason) else { return false }
        guard reason == .attemptsUsedUp else { return true }
        return contains { $0.decision == .retry && !RetryReason.follows.contains($0.reason) }
    }

    /// Whether an outer loop must not repeat a call with this record, whatever attempts it has left (rules R2 and R4).
    package var mustNotBeRepeated: Bool { contains { $0.repetition.refusal != nil } }
}

extension AttemptRecord.Repetition {
    /// What a loop around a call keeps to, after an outcome that the call may end with.
    package init(_ context: RetryContext, _ result: HTTPResult) {
        if case .unsafe(let reason, _) = ReplaySafety.decide(context) { refusal = reason }
        delay = ServerRetryDelay.read(context, fields: RateLimitFields())?.delay
        key = result.request.generatedKey
    }
}

/// The errors of calls that end although their strategy requested a retry.
extension HTTPError {
    /// The server's delay is longer than allowed (rule R18).
    static func retryAfterTooLong(
        until date: WallClock.Instant,
        _ request: HTTPRequest,
        _ result: HTTPResult
    ) -> HTTPError {
        var error = error(.retryAfterTooLong, request, result, "the server asks for a longer wait than is allowed here")
        error.retryAfterDate = date
        return error
    }

    /// The deadline has passed: returns the outcome, or for an attempt that the deadline ended its error (rule R20).
    static func deadlineExceeded(_ request: HTTPRequest, _ result: HTTPResult) -> HTTPResult {
        guard case .failure(let failure) = result, failure.code == .timedOut else { return result }
        let note = "the deadline of the call passed during this attempt"
        return .failure(error(.deadlineExceeded, request, result, note))
    }

    /// The deadline has passed before a redirect was followed: an error, because the redirect is not the requested
    /// response (rules R20 and R26).
    static func deadlineExceeded(_ request: HTTPRequest, beforeFollowing result: HTTPResult) -> HTTPResult {
        let message = "the deadline of the call passed before a redirect was followed"
        return .failure(error(.deadlineExceeded, request, result, message))
    }

    private static func error(
        _ code: HTTPError.Code,
        _ request: HTTPRequest,
        _ result: HTTPResult,
        _ message: String
    ) -> HTTPError {
        switch result {
        case .success(var response):
            response.dropStream()
            return HTTPError(
                code,
                request: request,
                response: response,
                message: "\(message); the last answer was \(response.status)",
                bytesSent: response.exchange.bytesSent
            )
        case .failure(let failure):
            var error = HTTPError(
                code,
                request: request,
                response: failure.response,
                underlyingError: failure.underlyingError,
                message: message,
                bytesSent: failure.bytesSent
            )
            error.lastFailure = failure.code
            return error
        }
    }
}
