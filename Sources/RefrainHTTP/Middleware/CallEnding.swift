/// The errors that say why there was no further try, where a try was wanted.
enum CallEnding {
    /// The local budget is empty (rule R22).
    static func budgetExhausted(_ request: HTTPRequest, _ result: HTTPResult) -> HTTPError {
        error(.budgetExhausted, request, result, "too many requests to this origin have failed lately; not tried again")
    }

    /// The server wants a longer wait than allowed (rule R18).
    static func comeBack(_ request: HTTPRequest, _ result: HTTPResult, at date: WallInstant) -> HTTPError {
        var error = error(.comeBackLater, request, result, "the server asks for a longer wait than is allowed here")
        error.comeBackAt = date
        return error
    }

    /// The time of the call is up: the outcome stands, and a try that the deadline cut says so (rule R20).
    static func deadlineExceeded(_ request: HTTPRequest, _ result: HTTPResult) -> HTTPResult {
        guard case .failure(let failure) = result, failure.code == .timedOut else { return result }
        return .failure(error(.deadlineExceeded, request, result, "the deadline of the call passed during this try"))
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
        case .success(let response):
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
