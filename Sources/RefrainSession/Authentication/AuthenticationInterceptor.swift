// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Signs requests, and refreshes the credential once for all requests that wait (rule R27).
///
/// ```swift
/// let authentication = AuthenticationInterceptor(
///     authenticator: TokenAuthenticator(), credential: token
/// )
/// let interceptor = Interceptor(
///     interceptors: [authentication, .recommendedRetryPolicy]
/// )
/// let session = Session(loader: loader, interceptor: interceptor)
/// ```
///
/// A request that is refused is sent once more: after a refresh, or without one if it was signed with an older
/// credential. A refresh that fails fails all requests that wait for it, and all requests that were in flight when it
/// failed and are refused later. A request that is signed afterwards starts another refresh. A fresh credential that
/// needs a refresh at once is used once as it is by each request that has waited for it. Put the interceptor before
/// retry policies, so that it decides first.
///
/// The authenticator may send its requests on the session that it is given, from any task or queue: they do not wait
/// for the refresh. Those that it sends on a reference of its own, from a task that it detached, do. No request waits
/// longer than the refresh time limit: it ends with ``/RefrainHTTP/Auth/Failure/refreshTimedOut``, the refresh goes on,
/// and what it obtains is used.
///
/// A request whose `HTTPRequest.authentication` is ``/RefrainHTTP/Auth/Method/none`` is neither signed nor
/// refreshed for.
///
/// The replay does not count as an attempt and draws on no budget, also where an interceptor of your own wraps this one
/// and returns its result. Within an attempt of an outer retry stage a request has its replay only if this interceptor
/// is not wrapped.
///
/// The authenticator decides what is a refusal; rule R2 decides what may be sent again. A 401 was not processed, so
/// every request is replayed after it. A POST that was refused with 403 or any other status is not, unless it has an
/// idempotency key or `HTTPRequest.replay` allows it: it fails, and the next request has the new credential.
public final class AuthenticationInterceptor<AuthenticatorType: Authenticator>: RequestInterceptor,
    FreeRetry
{
    /// What requests are signed with.
    public typealias Credential = AuthenticatorType.Credential
    /// How often the credential may be refreshed.
    public typealias RefreshWindow = Auth.RefreshWindow

    /// Signs and refreshes.
    public let authenticator: AuthenticatorType
    /// How often the credential may be refreshed; nil: no limit.
    public let refreshWindow: RefreshWindow?

    private let refresher: CredentialRefresher<Credential>

    /// Makes the interceptor.
    ///
    /// - Parameters:
    ///   - authenticator: signs and refreshes.
    ///   - credential: the credential to begin with; nil: requests fail with
    ///     ``/RefrainHTTP/Auth/Failure/missingCredential`` until there is one.
    ///   - refreshWindow: how often the credential may be refreshed.
    ///   - refreshTimeLimit: how long a request waits for a refresh, by the system's clock. Defaults to 60 s; nil:
    ///     without a limit, as for a refresh that asks a person.
    ///   - clock: what the window is measured on.
    public init(
        authenticator: AuthenticatorType,
        credential: Credential? = nil,
        refreshWindow: RefreshWindow? = .standard,
        refreshTimeLimit: Duration? = .seconds(60),
        clock: some Clock<Duration> = TimerClock()
    ) {
        self.authenticator = authenticator
        self.refreshWindow = refreshWindow
        refresher = CredentialRefresher(
            credential,
            missing: Auth.Failure.missingCredential,
            window: refreshWindow,
            timeLimit: refreshTimeLimit,
            clock: AnyClock(clock),
            isUsable: { !$0.requiresRefresh }
        )
    }

    /// The credential.
    ///
    /// Setting it ends the wait of all requests for a refresh: they go on with the new credential.
    public var credential: Credential? {
        get { refresher.credential }
        set { refresher.credential = newValue }
    }

    /// Authenticates a request, after a refresh if one is required.
    public func adapt(_ request: HTTPRequest, for session: Session) async throws -> HTTPRequest {
        guard request.authentication != .none, !refresher.isWithinRefresh else { return request }
        let (credential, version) = try await result(of: refresher.sign(by: refresh(for: session)))
        var signed = request
        authenticator.apply(credential, to: &signed)
        signed[option: SignedWith.self][ObjectIdentifier(self)] = version
        return signed
    }

    /// Retries a refused request once, after a refresh where it was signed with the current credential.
    public func retry(_ request: Request, for session: Session, dueTo error: any Error) async -> RetryResult {
        guard let sent = request.request, sent.authentication != .none, !refresher.isWithinRefresh,
            let response = request.response,
            authenticator.didRequest(sent, with: response, failDueToAuthenticationError: error)
        else { return .doNotRetry }
        guard let current = refresher.current else {
            return .doNotRetryWithError(Auth.Failure.missingCredential)
        }
        guard reaches(sent, current.credential), request.claimReplay(for: ObjectIdentifier(self)) else {
            return .doNotRetry
        }
        guard authenticator.isRequest(sent, authenticatedWith: current.credential) else { return retryFreely() }
        // The authenticator says which credential it was; the option, which refreshes had ended by then.
        var version = current.version
        if let signed = sent[option: SignedWith.self][ObjectIdentifier(self)] {
            version.endedRefreshes = signed.endedRefreshes
        }
        do {
            // Not marked: after a failed refresh, requests are signed with the old credential and refused again.
            let answer = await refresher.replace(version, marking: false, by: refresh(for: session))
            let (_, fresh) = try result(of: answer)
            refresher.allowUse(of: fresh)
            return retryFreely()
        } catch {
            return .doNotRetryWithError(error)
        }
    }

    /// Whether a replay would bring the credential: a redirect to another origin has taken it, and does so again.
    private func reaches(_ sent: HTTPRequest, _ credential: Credential) -> Bool {
        guard !sent.headersDroppedByRedirect.isEmpty else { return true }
        var replay = sent
        authenticator.apply(credential, to: &replay)
        return authenticator.isRequest(replay.withoutDroppedHeaders(), authenticatedWith: credential)
    }

    var retryReason: RetryReason { .credentialsRefreshed }
    var rules: Rules { [.budgetUse, .credentialRefresh] }
    var drawsOnBudget: Bool { false }

    /// The number of requests that wait for a refresh.
    package var numberOfWaitingRequests: Int { refresher.waitingCount }

    private func refresh(for session: Session) -> CredentialRefresher<Credential>.Refresh {
        { [authenticator] credential in
            guard let credential else { return .failure(Auth.Failure.missingCredential) }
            do {
                let own = Session(session, for: AuthenticationScope.operations)
                return .success(try await authenticator.refresh(credential, for: own))
            } catch {
                return .failure(error)
            }
        }
    }

    private func result(
        of answer: CredentialRefresher<Credential>.Answer
    ) throws -> (credential: Credential, version: CredentialVersion) {
        switch answer {
        case .credential(let credential, let version): return (credential, version)
        case .failure(let error): throw error
        case .unsigned: throw Auth.Failure.missingCredential
        case .cancelled: throw CancellationError()
        }
    }
}

/// The credentials that a request was signed with, by interceptor.
private enum SignedWith: HTTPRequestOption {
    static let defaultValue: [ObjectIdentifier: CredentialVersion] = [:]
}

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
///     func apply(
///         _ credential: Token, to request: inout HTTPRequest
///     ) {
///         let value = "Bearer \(credential.access)"
///         request.headers["Authorization"] = value
///     }
///     func refresh(
///         _ credential: Token, for session: Session
///     ) async throws -> Token {
///         let answer = session.request(
///             tokenURL,
///             method: .post,
///             parameters: ["t": credential.refresh]
///         )
///         return try await answer.validate()
///             .serializingDecodable(Token.self).value
///     }
///     func didRequest(
///         _ request: HTTPRequest,
///         with response: HTTPResponse,
///         failDueToAuthenticationError error: any Error
///     ) -> Bool { response.status == .unauthorized }
///     func isRequest(
///         _ request: HTTPRequest,
///         authenticatedWith credential: Token
///     ) -> Bool {
///         let value = "Bearer \(credential.access)"
///         return request.headers["Authorization"] == value
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
