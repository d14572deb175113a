/// A credential of a client, which may expire.
public protocol AuthenticationCredential: Sendable {
    /// Whether the credential must be refreshed before it is used.
    ///
    /// Return true some time before its expiry, so that it does not expire in flight.
    var requiresRefresh: Bool { get }
}

/// Applies credentials to requests, and refreshes them.
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
public protocol Authenticator<Credential>: Sendable {
    /// The type of the credential.
    associatedtype Credential: AuthenticationCredential

    /// Signs a request.
    func apply(_ credential: Credential, to request: inout HTTPRequest)

    /// Returns a new credential that replaces an expired or refused one.
    ///
    /// Requests that this method makes on `session` are not authenticated and do not wait for the refresh, also in a
    /// detached task or on a dispatch queue. Use this session, rather than a reference of your own to the same one:
    /// outside of the method's task, requests of that one wait for the refresh that waits for them, unless their
    /// `HTTPRequest.authentication` is ``/RefrainHTTP/Auth/Method/none``.
    ///
    /// Implement this form or ``refresh(_:for:completion:)``.
    func refresh(_ credential: Credential, for session: Session) async throws -> Credential

    /// Passes a new credential to `completion`, at once or later, on any thread.
    ///
    /// A completion that is never called fails the requests that wait for the refresh.
    func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    )

    /// Whether the service refused the request because of its credential, rather than for another reason.
    func didRequest(
        _ request: HTTPRequest,
        with response: HTTPResponse,
        failDueToAuthenticationError error: any Error
    ) -> Bool

    /// Whether the request was signed with this credential, rather than with one from before.
    func isRequest(_ request: HTTPRequest, authenticatedWith credential: Credential) -> Bool
}

extension Authenticator {
    /// Calls the completion form.
    ///
    /// - Throws: the error of the completion form, or `InvalidArgument` if neither form is implemented.
    public func refresh(_ credential: Credential, for session: Session) async throws -> Credential {
        let result: Result<Credential, any Error>? = try await CompletionForm.waitIfImplemented(by: Self.self) {
            refresh(credential, for: session, completion: $0)
        }
        guard let result else { throw CompletionForm.neither("refresh(_:for:)", of: Self.self) }
        return try result.get()
    }

    /// Calls the asynchronous form in a task.
    public func refresh(
        _ credential: Credential,
        for session: Session,
        completion: @escaping @Sendable (Result<Credential, any Error>) -> Void
    ) {
        guard !CompletionForm.isDefault(for: Self.self) else { return }
        CompletionForm.run {
            do {
                completion(.success(try await refresh(credential, for: session)))
            } catch {
                completion(.failure(error))
            }
        }
    }
}
