/// A credential and its refresh, as a state machine: a value that takes an event, and says what to do.
///
/// There is at most one refresh at a time, whoever asks for it. Each refresh has a number, so that the end of one that
/// was overtaken by a credential set from outside changes nothing.
struct CredentialState<Credential: AuthenticationCredential> {
    var credential: Credential?
    private(set) var refreshing: Int?
    private var nextRefresh = 0
    private var refreshes: [Duration] = []

    init(_ credential: Credential?) { self.credential = credential }

    /// What somebody who needs a credential shall do.
    enum Step {
        case use(Credential)
        /// Wait for the refresh that goes on.
        case join
        /// Start a refresh of this number, and wait for it.
        case start(Int, Credential)
        case fail(AuthenticationError)

        /// Whether there is a refresh to wait for.
        var waits: Bool {
            switch self {
            case .join, .start: true
            case .use, .fail: false
            }
        }
    }

    /// A request is to be signed.
    mutating func sign(window: RefreshWindow?, now: Duration) -> Step {
        guard let credential else { return .fail(.missingCredential) }
        if refreshing != nil { return .join }
        return credential.requiresRefresh ? start(credential, window, now) : .use(credential)
    }

    /// A request that was signed with the present credential was refused.
    mutating func refused(window: RefreshWindow?, now: Duration) -> Step {
        guard let credential else { return .fail(.missingCredential) }
        return refreshing != nil ? .join : start(credential, window, now)
    }

    /// A refresh has ended; answers whether it was the one that is waited for.
    mutating func end(_ number: Int, with new: Credential?) -> Bool {
        guard refreshing == number else { return false }
        refreshing = nil
        if let new { credential = new }
        return true
    }

    /// A credential, or none, comes from outside; a refresh that goes on is overtaken.
    mutating func replace(with new: Credential?) {
        credential = new
        refreshing = nil
    }

    private mutating func start(_ credential: Credential, _ window: RefreshWindow?, _ now: Duration) -> Step {
        if let window {
            refreshes.removeAll { now - $0 >= window.interval }
            guard !window.isExceeded(by: refreshes, now: now) else { return .fail(.excessiveRefresh) }
            refreshes.append(now)
        }
        nextRefresh += 1
        refreshing = nextRefresh
        return .start(nextRefresh, credential)
    }
}
