/// Why there is no credential: told to everybody who waits for it.
struct AuthenticationFailure: Error {
    var code: HTTPError.Code
    var message: String
    var underlyingError: (any Error)?

    /// The user, or code on the user's behalf, would not give credentials.
    static func declined(_ message: String, _ error: (any Error)? = nil) -> AuthenticationFailure {
        AuthenticationFailure(code: .userCancelledAuthentication, message: message, underlyingError: error)
    }

    /// The caller's code threw.
    ///
    /// Its own cancellation is the user's refusal; it is not that of the requests that wait.
    static func thrown(_ error: any Error, by name: String) -> AuthenticationFailure {
        if error is CancellationError || (error as? HTTPError)?.code == .cancelled {
            return .declined("\(name) was cancelled", error)
        }
        let reason = (error as? HTTPError).map { "\($0.code.rawValue), \($0.request)" } ?? "\(error)"
        return AuthenticationFailure(
            code: .userAuthenticationRequired,
            message: "\(name) failed: \(reason)",
            underlyingError: error
        )
    }

    /// The error of one request that waited.
    ///
    /// - Parameter response: the answer that asked for credentials; nil where the request was not sent yet.
    func error(of request: HTTPRequest, after response: HTTPResponse?) -> HTTPError {
        var error = HTTPError(
            code,
            request: request,
            response: response,
            underlyingError: underlyingError,
            message: message,
            bytesSent: response.map(\.exchange.bytesSent) ?? 0
        )
        error.lastFailure = (underlyingError as? HTTPError)?.code
        return error
    }
}
