/// The state machine that obtains a token: from the store, by a refresh, or by a log-in.
struct OAuthTokenRequest {
    /// The next action.
    enum Step: Equatable {
        case readStore
        case refresh(OAuthToken)
        case logIn
        case save(OAuthToken)
        case use(OAuthToken)
        /// There is no token, because the log-in returned none.
        case decline
    }

    /// The result of an action.
    enum Event: Equatable {
        /// A token is needed that replaces this one, which has expired or was refused; nil: the first one.
        case wanted(replacing: OAuthToken?)
        /// The store was read; `isCurrent` is whether its token may be sent.
        case stored(OAuthToken?, isCurrent: Bool)
        /// The refresh ended; nil: the service requires a new log-in.
        case refreshed(OAuthToken?)
        case loggedIn(OAuthToken?)
        case saved(OAuthToken)
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

    private func renew(_ token: OAuthToken) -> Step {
        refreshes && token.refreshToken != nil ? .refresh(token) : .logIn
    }
}
