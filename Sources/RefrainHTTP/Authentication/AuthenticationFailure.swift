/// Why there is no credential: the failure of all requests that wait for it.
struct AuthenticationFailure: Error {
    var code: HTTPError.Code
    var message: String
    var underlyingError: (any Error)?

    /// Makes the failure of a refresh that failed with an error.
    init(_ error: any Error) {
        self = error as? AuthenticationFailure ?? .thrown(error, by: "refreshing the credential")
    }

    init(code: HTTPError.Code, message: String, underlyingError: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.underlyingError = underlyingError
    }

    /// The user declined to give credentials.
    static func declined(_ message: String, _ error: (any Error)? = nil) -> AuthenticationFailure {
        AuthenticationFailure(code: .userCancelledAuthentication, message: message, underlyingError: error)
    }

    /// The caller's code threw.
    ///
    /// Its own cancellation counts as the user declining, not as a cancellation of the waiting requests.
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

    /// The error of one waiting request.
    ///
    /// - Parameter response: the response that requested credentials; nil if the request was not sent.
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
