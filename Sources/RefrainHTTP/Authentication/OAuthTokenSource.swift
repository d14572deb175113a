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
