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
