/// Authenticates with an access token (RFC 6750) from the store, from a refresh or from a log-in.
///
/// ```swift
/// let oauth = OAuth(store: keychain, origins: [api]) { token in
///     try await service.refresh(token)          // nil: the refresh token is no longer valid
/// } logIn: {
///     try await service.logIn()                 // nil: the user declined
/// }
/// let loader = Retry(RetryPolicy.recommended) --> oauth --> PlatformLoader()
/// ```
///
/// The token is obtained once for all requests that need it. A request that is refused with a 401 is sent once more:
/// with a new token, or with the current one, without a refresh, if it was signed with an older one (rule R27). A
/// request whose body can be read only once and was read is not sent again (rule R4) and ends with the 401. So does a
/// request that is refused a second time.
///
/// If a closure throws, all waiting requests fail with ``HTTPError/Code/userAuthenticationRequired``; if `logIn`
/// returns nil, they fail with ``HTTPError/Code/userCancelledAuthentication``. The next request calls the closures
/// again. Requests that the closures make on this same chain are not signed and do not wait; in a detached task, set
/// ``HTTPRequest/authentication`` to ``Auth/Method/none``. They take no slot of a ``Throttle`` before this stage whose
/// slots are held by the waiting requests.
///
/// If tokens are obtained, and refused, more often than the ``Auth/RefreshWindow`` allows, requests fail with
/// ``Auth/Failure/excessiveRefresh`` as their cause until the window has passed. A token that was not refused is sent
/// until it expires.
///
/// A request with its own `Authorization` is not changed, and neither is one from which a redirect has removed the
/// credentials (rule R26). The stage belongs inside of ``Retry`` and ``Redirect``.
public struct OAuth: HTTPMiddleware {
    /// The origins that the token may be sent to; nil: all origins.
    public let origins: Set<Origin>?

    /// The limit of refreshes; nil: no limit.
    public let refreshWindow: Auth.RefreshWindow?

    private let store: any TokenStore
    private let history: Locked<RefreshHistory>
    private let clocks: RetryClocks
    private let source: OAuthTokenSource
    private let refresher: AuthenticatedCall.Refresher

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - store: the store of the token. Defaults to an in-memory one.
    ///   - origins: the origins that the token may be sent to; nil: all origins.
    ///   - leeway: how long before its expiry a token counts as expired, so that it does not expire in flight. At most
    ///     half of its lifetime.
    ///   - refreshWindow: the limit of refreshes, and of log-ins that returned a token.
    ///   - clocks: the clocks of the token's expiry, of the attempt records and of the window.
    ///   - refresh: returns a new token that replaces one; nil if the service requires a new log-in. Where the new one
    ///     has no refresh token, that of the old one is kept (RFC 6749 §6).
    ///   - logIn: returns a token without a previous one; nil to decline.
    public init(
        store: any TokenStore = InMemoryTokenStore(),
        origins: Set<Origin>? = nil,
        leeway: Duration = .seconds(30),
        refreshWindow: Auth.RefreshWindow? = .standard,
        clocks: RetryClocks = .system,
        refresh: (@Sendable (_ token: Token) async throws -> Token?)? = nil,
        logIn: @escaping @Sendable () async throws -> Token?
    ) {
        self.store = store
        self.origins = origins
        self.refreshWindow = refreshWindow
        let history = Locked(RefreshHistory(refreshWindow))
        self.history = history
        self.clocks = clocks
        let lives = Locked(OAuthTokenExpiry())
        let isCurrent: @Sendable (Token) -> Bool = { token in
            guard let end = token.expiresAt else { return true }
            let left = clocks.wallNow.duration(to: end)
            if left > lives.withLock({ $0.leeway(of: token, atMost: leeway) }) { return true }
            return left > .zero && history.withLock { $0.isExhausted(now: clocks.now) }
        }
        source = OAuthTokenSource(
            store: store,
            isCurrent: isCurrent,
            mayRenew: { history.withLock { !$0.isExhausted(now: clocks.now) } },
            noteRenewal: { history.withLock { $0.note(now: clocks.now) } },
            noteToken: { token in lives.withLock { $0.begin(token, now: clocks.wallNow) } },
            refresh: refresh,
            logIn: logIn
        )
        refresher = CredentialRefresher { credential in
            if case .token(let token) = credential { isCurrent(token) } else { true }
        }
    }

    /// The number of requests that wait for a token.
    public var numberOfWaitingRequests: Int { refresher.waitingCount }

    /// Authenticates a request, and sends it once more with a new token if it is refused.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.authentication == .automatic || request.authentication == .oauth, mayServe(request) else {
            return await next.load(request)
        }
        let call = AuthenticatedCall(
            refresher: { _ in refresher },
            refresh: { [source] refused in
                let previous: Token? = if case .token(let token) = refused { token } else { nil }
                return await source.token(replacing: previous).map(AuthorizationCredential.token)
            },
            signsBeforeChallenge: true,
            isChallenge: { _ in true },
            refusal: nil,
            clocks: clocks
        )
        return await call.load(request, next: next)
    }

    /// Discards the token in memory and ends the waits for a new one.
    ///
    /// Waiting requests end with ``HTTPError/Code/cancelled``. A refresh in flight is not cancelled, since a service
    /// that rotates refresh tokens has no use for the old one any more: the reset returns when it has ended and its
    /// token is in the store. When a user logs out, call ``forgetToken()`` instead, which cancels it.
    public func reset() async { await reset(cancellingRefresh: false) }

    private func reset(cancellingRefresh cancels: Bool) async {
        history.withLock { $0 = RefreshHistory(refreshWindow) }
        await refresher.reset(cancellingRefresh: cancels)
    }

    /// Discards the token, and erases it from the store, as on a log-out.
    ///
    /// Requests in flight that were sent with it continue; a preceding ``Deduplicate`` stage does not share their
    /// responses with later requests. Reset the chain to end them, too.
    public func forgetToken() async {
        // Before the reset, so that no request reads it from the store; and again afterwards, because a refresh in
        // flight may have stored another token of the same user.
        await store.save(nil)
        await reset(cancellingRefresh: true)
        await store.save(nil)
    }

    private func mayServe(_ request: HTTPRequest) -> Bool {
        guard let origins else { return true }
        return request.origin.map(origins.contains) ?? false
    }
}

extension OAuth: CredentialScoped {
    var userGeneration: Int { refresher.resetCount }
}
