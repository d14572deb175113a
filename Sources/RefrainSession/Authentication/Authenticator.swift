/// Something that proves who asks, and may go out of date.
public protocol AuthenticationCredential: Sendable {
    /// Whether the credential must be refreshed before it is used.
    ///
    /// Say so some time before it really expires, so that it does not expire on its way.
    var requiresRefresh: Bool { get }
}

/// Knows how a service wants its requests signed, and how a credential is refreshed.
///
/// ```swift
/// struct TokenAuthenticator: Authenticator {
///     func apply(_ credential: Token, to request: inout HTTPRequest) {
///         request.headers["Authorization"] = "Bearer \(credential.access)"
///     }
///     func refresh(_ credential: Token, for session: Session) async throws -> Token {
///         try await session.request(tokenURL, method: .post, parameters: ["t": credential.refresh])
///             .validate().serializingDecodable(Token.self).value
///     }
///     func didRequest(
///         _ request: HTTPRequest, with response: HTTPResponse, failDueToAuthenticationError error: any Error
///     ) -> Bool { response.status == .unauthorized }
///     func isRequest(_ request: HTTPRequest, authenticatedWith credential: Token) -> Bool {
///         request.headers["Authorization"] == "Bearer \(credential.access)"
///     }
/// }
/// ```
///
/// The idea is from Alamofire.
public protocol Authenticator<Credential>: Sendable {
    /// What requests are signed with.
    associatedtype Credential: AuthenticationCredential

    /// Signs a request.
    func apply(_ credential: Credential, to request: inout HTTPRequest)

    /// A new credential in place of one that has gone out of date.
    ///
    /// Requests that are made in here on the same session are not signed, and do not wait for the refresh. Those that
    /// are made in a detached task, or on a dispatch queue, are not known for what they are: set their
    /// `HTTPRequest.authentication` to ``/RefrainHTTP/AuthenticationMethod/none``, or they wait for the refresh that
    /// waits for them.
    func refresh(_ credential: Credential, for session: Session) async throws -> Credential

    /// Whether the service refused the request because of its credential, rather than for another reason.
    func didRequest(
        _ request: HTTPRequest,
        with response: HTTPResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether the request was signed with this credential, rather than with one from before.
    func isRequest(_ request: HTTPRequest, authenticatedWith credential: Credential) -> Bool
}
