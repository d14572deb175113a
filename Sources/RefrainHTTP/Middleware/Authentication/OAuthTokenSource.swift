/// Carries out what an ``OAuthPlan`` says.
struct OAuthTokenSource: Sendable {
    let store: any OAuthTokenStore
    let isCurrent: @Sendable (OAuthToken) -> Bool
    /// Whether a token may be obtained now, and what is called when one was.
    let mayRenew: @Sendable () -> Bool
    let noteRenewal: @Sendable () -> Void
    /// What is called with a token that was obtained.
    let noteToken: @Sendable (OAuthToken) -> Void
    let refresh: (@Sendable (OAuthToken) async throws -> OAuthToken?)?
    let logIn: @Sendable () async throws -> OAuthToken?

    /// Obtains a token in place of one that is out of date or was refused, or the first one.
    func token(replacing old: OAuthToken?) async -> Result<OAuthToken, AuthenticationFailure> {
        let plan = OAuthPlan(refreshes: refresh != nil)
        var event = OAuthPlan.Event.wanted(replacing: old)
        // Each step leads further down the plan, so the walk ends.
        while true {
            let step = plan.step(after: event)
            do {
                if step.renews, !mayRenew() { throw AuthenticationError.excessiveRefresh }
                switch step {
                case .readStore:
                    let token = try await store.token()
                    event = .stored(token, isCurrent: token.map(isCurrent) ?? false)
                case .refresh(let token):
                    // Also one that fails: it is the service that is spared.
                    noteRenewal()
                    event = .refreshed(try await refresh?(token))
                case .logIn:
                    let token = try await logIn()
                    if token != nil { noteRenewal() }
                    event = .loggedIn(token)
                case .save(let token):
                    // What a reset has overtaken belongs to nobody: it must not come back from the store.
                    guard !Task.isCancelled else { return .failure(.declined("cancelled by a reset")) }
                    noteToken(token)
                    await store.save(token)
                    event = .saved(token)
                case .use(let token): return .success(token)
                case .decline: return .failure(.declined("nobody logged in"))
                }
            } catch {
                return .failure(.thrown(error, by: step.name))
            }
        }
    }
}

extension OAuthPlan.Step {
    /// Whether the step asks for a new token.
    fileprivate var renews: Bool {
        switch self {
        case .refresh, .logIn: true
        case .readStore, .save, .use, .decline: false
        }
    }

    /// What errors call the step.
    fileprivate var name: String {
        switch self {
        case .readStore: "reading the stored token"
        case .refresh: "refreshing the token"
        case .logIn: "logging in"
        case .save, .use, .decline: "obtaining a token"
        }
    }
}
