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
