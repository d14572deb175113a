/// How a token is come by, as a pure state machine: from the store, else by a refresh, else by a log-in.
struct OAuthPlan {
    /// What is to be done next.
    enum Step: Equatable {
        case readStore
        case refresh(OAuthToken)
        case logIn
        case save(OAuthToken)
        case use(OAuthToken)
        /// There is no token, since nobody logged in.
        case decline
    }

    /// What came of a step.
    enum Event: Equatable {
        /// A token is needed in place of this one, which is out of date or was refused; nil: there was none yet.
        case wanted(replacing: OAuthToken?)
        /// The store was read; `isCurrent` says whether its token is worth sending.
        case stored(OAuthToken?, isCurrent: Bool)
        /// The refresh has ended; nil: the service wants a new log-in.
        case refreshed(OAuthToken?)
        case loggedIn(OAuthToken?)
        case saved(OAuthToken)
    }

    /// Whether tokens can be refreshed at all.
    let refreshes: Bool

    /// What follows an event.
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
