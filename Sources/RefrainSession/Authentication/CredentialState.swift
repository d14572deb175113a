internal import RefrainHTTP

/// A credential and its refresh, as a state machine: a value that takes an event, and says what to do.
///
/// There is at most one refresh at a time, whoever asks for it; the end of one that was overtaken by a credential set
/// from outside changes nothing.
struct CredentialState<Credential: AuthenticationCredential> {
    var credential: Credential?
    private var rounds = Rounds()
    private var history: RefreshHistory

    init(_ credential: Credential?, window: RefreshWindow?) {
        self.credential = credential
        history = RefreshHistory(window)
    }

    /// Whether a refresh goes on.
    var isRefreshing: Bool { rounds.current != nil }

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
    mutating func sign(now: Duration) -> Step {
        guard let credential else { return .fail(.missingCredential) }
        if isRefreshing { return .join }
        return credential.requiresRefresh ? start(credential, now) : .use(credential)
    }

    /// A request that was signed with the present credential was refused.
    mutating func refused(now: Duration) -> Step {
        guard let credential else { return .fail(.missingCredential) }
        return isRefreshing ? .join : start(credential, now)
    }

    /// A refresh has ended; answers whether it was the one that is waited for.
    mutating func end(_ number: Int, with new: Credential?) -> Bool {
        guard rounds.end(number) else { return false }
        if let new { credential = new }
        return true
    }

    /// A credential, or none, comes from outside; a refresh that goes on is overtaken.
    mutating func replace(with new: Credential?) {
        credential = new
        rounds.abandon()
    }

    private mutating func start(_ credential: Credential, _ now: Duration) -> Step {
        guard !history.isExhausted(now: now) else { return .fail(.excessiveRefresh) }
        history.note(now: now)
        return .start(rounds.begin(), credential)
    }
}
