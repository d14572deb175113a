/// The errors of calls that end without the retry that was wanted.
extension HTTPError {
    /// The server wants a longer wait than allowed (rule R18).
    static func retryAfterTooLong(
        until date: WallClock.Instant,
        _ request: HTTPRequest,
        _ result: HTTPResult
    ) -> HTTPError {
        var error = error(.retryAfterTooLong, request, result, "the server asks for a longer wait than is allowed here")
        error.retryAfterDate = date
        return error
    }

    /// The time of the call is up: the outcome stands, and an attempt that the deadline cut says so (rule R20).
    static func deadlineExceeded(_ request: HTTPRequest, _ result: HTTPResult) -> HTTPResult {
        guard case .failure(let failure) = result, failure.code == .timedOut else { return result }
        let note = "the deadline of the call passed during this attempt"
        return .failure(error(.deadlineExceeded, request, result, note))
    }

    /// The time of the call is up before a redirect was followed: what it points to was asked for, and not the redirect
    /// (rules R20 and R26).
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
