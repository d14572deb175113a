// SPDX-License-Identifier: Apache-2.0
/// Authenticates with an access token (RFC 6750) from the store, from a refresh or from a log-in.
///
/// ```swift
/// let oauth = OAuth(store: keychain, origins: [api]) { token in
///     // nil: the refresh token is no longer valid
///     try await service.refresh(token)
/// } logIn: {
///     // nil: the user declined
///     try await service.logIn()
/// }
/// let loader = Retry(RetryPolicy.recommended)
///     --> oauth
///     --> PlatformLoader()
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

extension OAuth {
    /// An access token with its refresh token (RFC 6749 §5.1, RFC 6750).
    public struct Token: Hashable, Sendable, Codable {
        /// The token that is sent with requests.
        public var accessToken: String
        /// The refresh token; nil: a new access token requires a log-in.
        public var refreshToken: String?
        /// When the access token expires; nil if unknown.
        public var expiresAt: WallClock.Instant?
        /// The scheme in `Authorization`.
        public var scheme: String

        /// Makes a token.
        public init(
            accessToken: String,
            refreshToken: String? = nil,
            expiresAt: WallClock.Instant? = nil,
            scheme: String = "Bearer"
        ) {
            self.accessToken = accessToken
            self.refreshToken = refreshToken
            self.expiresAt = expiresAt
            self.scheme = scheme
        }

        /// This token, with the refresh token of the one that it replaces where it came without its own: a service that
        /// issues no new refresh token leaves the old one valid (RFC 6749 §6).
        func keepingRefreshToken(of old: Token) -> Token {
            guard refreshToken == nil else { return self }
            var token = self
            token.refreshToken = old.refreshToken
            return token
        }

        /// The value of `Authorization`.
        public var fieldValue: String { "\(scheme) \(accessToken)" }
    }
}

extension OAuth.Token: CustomStringConvertible, CustomDebugStringConvertible {
    /// The type of the token, without the token.
    public var description: String {
        let expiry = expiresAt.map { "until \($0.sinceEpoch) since the epoch" } ?? "without a known end"
        return "\(scheme) token \(expiry), \(refreshToken == nil ? "not refreshable" : "refreshable")"
    }

    /// The type of the token, without the token.
    public var debugDescription: String { description }
}

/// The lifetime of the last token when it was obtained.
///
/// Limits the leeway: a token with a lifetime shorter than the leeway would always count as expired, and be refreshed
/// for each request.
struct OAuthTokenExpiry: Sendable {
    private var end: WallClock.Instant?
    private var length = Duration.zero

    /// Records a new token.
    mutating func begin(_ token: OAuth.Token, now: WallClock.Instant) {
        end = token.expiresAt
        length = end.map { now.duration(to: $0) } ?? .zero
    }

    /// How long before its expiry a token counts as expired: at most half of its lifetime, if known.
    func leeway(of token: OAuth.Token, atMost leeway: Duration) -> Duration {
        guard let end, token.expiresAt == end else { return leeway }
        return min(leeway, max(.zero, length / 2))
    }
}

extension OAuth {
    /// Stores an ``OAuth/Token`` beyond the lifetime of a chain, such as in a keychain.
    public protocol TokenStore: Sendable {
        /// Returns the stored token, or nil.
        ///
        /// It is called once, when the first request needs the token. An error fails all waiting requests, and the next
        /// request calls it again.
        func token() async throws -> Token?

        /// Stores a token in place of the previous one; nil erases it.
        ///
        /// The store handles its own failures: the token stays valid for the lifetime of the chain.
        func save(_ token: Token?) async
    }
}

extension OAuth {
    /// Stores a token in memory.
    public final class InMemoryTokenStore: TokenStore {
        private let contents: Locked<Token?>

        /// Makes a store.
        public init(_ token: Token? = nil) { contents = Locked(token) }

        /// Returns the stored token.
        public func token() async -> Token? { contents.withLock { $0 } }

        /// Stores a token in place of the previous one; nil erases it.
        public func save(_ token: Token?) async { contents.withLock { $0 = token } }
    }
}

/// The state machine that obtains a token: from the store, by a refresh, or by a log-in.
struct OAuthTokenRequest {
    /// The next action.
    enum Step: Equatable {
        case readStore
        case refresh(OAuth.Token)
        case logIn
        case save(OAuth.Token)
        case use(OAuth.Token)
        /// There is no token, because the log-in returned none.
        case decline
    }

    /// The result of an action.
    enum Event: Equatable {
        /// A token is needed that replaces this one, which has expired or was refused; nil: the first one.
        case wanted(replacing: OAuth.Token?)
        /// The store was read; `isCurrent` is whether its token may be sent.
        case stored(OAuth.Token?, isCurrent: Bool)
        /// The refresh ended; nil: the service requires a new log-in.
        case refreshed(OAuth.Token?)
        case loggedIn(OAuth.Token?)
        case saved(OAuth.Token)
    }

    /// Whether tokens can be refreshed.
    let refreshes: Bool

    /// Returns the action that follows an event.
    func step(after event: Event) -> Step {
        switch event {
        case .wanted(replacing: nil): .readStore
        case .wanted(replacing: let old?): renew(old)
        case .stored(let token?, isCurrent: true): .use(token)
        case .stored(let token?, isCurrent: false): renew(token)
        case .stored(nil, _), .refreshed(nil): .logIn
        case .refreshed(let token?), .loggedIn(let token?): .save(token)
        case .loggedIn(nil): .decline
        case .saved(let token): .use(token)
        }
    }

    private func renew(_ token: OAuth.Token) -> Step {
        refreshes && token.refreshToken != nil ? .refresh(token) : .logIn
    }
}

/// Performs the actions of an ``OAuthTokenRequest``.
struct OAuthTokenSource: Sendable {
    let store: any OAuth.TokenStore
    let isCurrent: @Sendable (OAuth.Token) -> Bool
    /// Whether a token may be obtained now; `noteRenewal` records that one was.
    let mayRenew: @Sendable () -> Bool
    let noteRenewal: @Sendable () -> Void
    /// Called with each new token.
    let noteToken: @Sendable (OAuth.Token) -> Void
    let refresh: (@Sendable (OAuth.Token) async throws -> OAuth.Token?)?
    let logIn: @Sendable () async throws -> OAuth.Token?

    /// Obtains the first token, or one that replaces an expired or refused one.
    func token(replacing old: OAuth.Token?) async -> Result<OAuth.Token, any Error> {
        let plan = OAuthTokenRequest(refreshes: refresh != nil)
        var event = OAuthTokenRequest.Event.wanted(replacing: old)
        // Each action leads to a later one, so the loop ends.
        while true {
            let step = plan.step(after: event)
            do {
                if step.renews, !mayRenew() { throw Auth.Failure.excessiveRefresh }
                switch step {
                case .readStore:
                    let token = try await store.token()
                    event = .stored(token, isCurrent: token.map(isCurrent) ?? false)
                case .refresh(let token):
                    // Also counts failures, because the limit protects the service.
                    noteRenewal()
                    event = .refreshed(try await refresh?(token)?.keepingRefreshToken(of: token))
                case .logIn:
                    let token = try await logIn()
                    if token != nil { noteRenewal() }
                    event = .loggedIn(token)
                case .save(let token):
                    // A token obtained before a reset must not be stored after it.
                    guard !Task.isCancelled else {
                        return .failure(AuthenticationFailure.declined("cancelled by a reset"))
                    }
                    noteToken(token)
                    await store.save(token)
                    event = .saved(token)
                case .use(let token): return .success(token)
                case .decline: return .failure(AuthenticationFailure.declined("no user is logged in"))
                }
            } catch {
                return .failure(AuthenticationFailure.thrown(error, by: step.name))
            }
        }
    }
}

extension OAuthTokenRequest.Step {
    /// Whether the action requests a new token.
    fileprivate var renews: Bool {
        switch self {
        case .refresh, .logIn: true
        case .readStore, .save, .use, .decline: false
        }
    }

    /// The name of the action in errors.
    fileprivate var name: String {
        switch self {
        case .readStore: "reading the stored token"
        case .refresh: "refreshing the token"
        case .logIn: "logging in"
        case .save, .use, .decline: "obtaining a token"
        }
    }
}
