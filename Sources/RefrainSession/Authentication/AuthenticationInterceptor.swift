internal import RefrainCore

/// Signs requests, and refreshes the credential once for all requests that wait (rule R27).
///
/// ```swift
/// let authentication = AuthenticationInterceptor(authenticator: TokenAuthenticator(), credential: token)
/// let interceptor = Interceptor(interceptors: [authentication, .recommendedRetryPolicy])
/// let session = Session(loader: loader, interceptor: interceptor)
/// ```
///
/// A request that is refused is sent once more: after a refresh, or without one if it was signed with an older
/// credential. A refresh that fails fails all requests that wait for it, and all requests that were in flight when it
/// failed and are refused later. A request that is signed afterwards starts another refresh. A fresh credential that
/// needs a refresh at once is used once as it is by each request that has waited for it. The authenticator may send its
/// requests on the session that it is given, from any task or queue. Put the interceptor before retry policies, so that
/// it decides first.
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
    ///   - clock: what the window is measured on.
    public init(
        authenticator: AuthenticatorType,
        credential: Credential? = nil,
        refreshWindow: RefreshWindow? = .standard,
        clock: some Clock<Duration> = TimerClock()
    ) {
        self.authenticator = authenticator
        self.refreshWindow = refreshWindow
        refresher = CredentialRefresher(
            credential,
            missing: Auth.Failure.missingCredential,
            window: refreshWindow,
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
        guard request.claimReplay(for: ObjectIdentifier(self)) else { return .doNotRetry }
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
