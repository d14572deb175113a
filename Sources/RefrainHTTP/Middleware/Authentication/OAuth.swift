/// Authenticates with an access token: one from the store, else a refreshed one, else one from a log-in (RFC 6750).
///
/// ```swift
/// let oauth = OAuth(store: keychain, origins: [api]) { token in
///     try await service.refresh(token)          // nil: the refresh token is no longer good
/// } logIn: {
///     try await service.logIn()                 // nil: the user would not
/// }
/// let loader = Retry(RetryPolicy.recommended) --> oauth --> CurlLoader()
/// ```
///
/// However many requests need a token, it is obtained once for them all. A request that is refused with a 401 is sent
/// once more with a new token; if it was signed with one from before, without a refresh (rule R27). A body that can be
/// read once only and was read is not sent again (rule R4): the 401 stands. A second 401 stands, too.
///
/// What the closures throw fails all who wait with ``HTTPError/Code/userAuthenticationRequired``; a log-in that
/// answers nil, with ``HTTPError/Code/userCancelledAuthentication``. The next request tries again. Requests that the
/// closures make on this same chain are not signed and do not wait; from a detached task, set
/// ``HTTPRequest/authentication`` to ``AuthenticationMethod/none``. Where a ``Throttle`` stands before this stage, set
/// their ``HTTPRequest/throttle`` to `.never`, since those who wait hold the slots.
///
/// Where tokens are obtained, and refused, too often in a short time, requests fail with
/// ``AuthenticationError/excessiveRefresh`` as their cause until the ``RefreshWindow`` has passed.
///
/// A request with an `Authorization` of its own is left alone, and so is one that a redirect took its credentials from
/// (rule R26). The stage belongs inside of ``Retry`` and ``Redirect``. The idea is from "HTTP in Swift".
public struct OAuth: HTTPMiddleware {
    /// Where the token may be sent; nil: to whatever origin the chain is used for.
    public let origins: Set<Origin>?

    /// How often a token may be obtained; nil: as often as it takes.
    public let refreshWindow: RefreshWindow?

    private let store: any OAuthTokenStore
    private let history: Locked<RefreshHistory>
    private let clocks: ClockPair
    private let desk: CredentialDesk<OAuthToken>

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - store: where the token is kept.
    ///   - origins: where the token may be sent; nil: to whatever origin the chain is used for.
    ///   - leeway: how long before its end a token counts as out of date, so that it does not expire on its way.
    ///   - refreshWindow: how often tokens may be obtained: each refresh counts, and each log-in that brought a token.
    ///   - clocks: the clocks that the token's end is compared with, the record of attempts is kept by, and the window
    ///     is measured on.
    ///   - refresh: a new token in place of one; nil where the service wants a new log-in.
    ///   - logIn: a token without one from before; nil where there is to be none.
    public init(
        store: any OAuthTokenStore = InMemoryTokenStore(),
        origins: Set<Origin>? = nil,
        leeway: Duration = .seconds(30),
        refreshWindow: RefreshWindow? = .standard,
        clocks: ClockPair = .system,
        refresh: (@Sendable (_ token: OAuthToken) async throws -> OAuthToken?)? = nil,
        logIn: @escaping @Sendable () async throws -> OAuthToken?
    ) {
        self.store = store
        self.origins = origins
        self.refreshWindow = refreshWindow
        let history = Locked(RefreshHistory(refreshWindow))
        self.history = history
        self.clocks = clocks
        let isCurrent: @Sendable (OAuthToken) -> Bool = { token in
            guard let end = token.expiresAt else { return true }
            return clocks.wallNow.duration(to: end) > leeway
        }
        let source = OAuthTokenSource(
            store: store,
            isCurrent: isCurrent,
            mayRenew: { history.withLock { !$0.isExhausted(now: clocks.now) } },
            noteRenewal: { history.withLock { $0.note(now: clocks.now) } },
            refresh: refresh,
            logIn: logIn
        )
        desk = CredentialDesk(isUsable: isCurrent) { await source.token(replacing: $0) }
    }

    /// How many requests wait for a token.
    public var numberOfWaitingRequests: Int { desk.waitingCount }

    /// Signs a request, and sends it once more with a new token where it is refused.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.authentication == .automatic || request.authentication == .oauth, mayServe(request) else {
            return await next.load(request)
        }
        let call = AuthenticatedCall<OAuthToken>(
            desk: { _ in desk },
            signsBeforehand: true,
            isChallenge: { _ in true },
            fieldValue: \.fieldValue,
            refusal: nil,
            clocks: clocks
        )
        return await call.load(request, next: next)
    }

    /// Forgets the token and ends the wait for a new one; the store keeps what it has.
    ///
    /// Requests that waited end with ``HTTPError/Code/cancelled``. When a user logs out, call ``forgetToken()`` too.
    public func reset() async {
        history.withLock { $0 = RefreshHistory(refreshWindow) }
        await desk.reset()
    }

    /// Forgets the token, and erases it from the store, as when a user logs out.
    ///
    /// Requests that were signed with it and are under way go on, each for the one who has made it: a ``Deduplicate``
    /// stage further out lets no later request share their answers. Reset the chain to end them, too.
    public func forgetToken() async {
        // First, so that no request that comes in between finds it there; and once more, since what was under way may
        // have stored another one of the same user.
        await store.save(nil)
        await reset()
        await store.save(nil)
    }

    private func mayServe(_ request: HTTPRequest) -> Bool {
        guard let origins else { return true }
        return request.origin.map(origins.contains) ?? false
    }
}

extension OAuth: SpeaksForUser {
    var userGeneration: Int { desk.resetCount }
}
