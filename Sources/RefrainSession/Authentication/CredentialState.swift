internal import RefrainHTTP

/// A credential and its refresh, as a state machine: a value that takes an event, and says what to do.
///
/// There is at most one refresh at a time, whoever asks for it; the end of one that was overtaken by a credential set
/// from outside changes nothing. A request that was under way while a refresh failed shares in that failure, however
/// late its own refusal comes; only one that is signed afterwards has the credential refreshed again.
struct CredentialState<Credential: AuthenticationCredential> {
    var credential: Credential?
    private var rounds = Rounds()
    private var history: RefreshHistory
    /// How many refreshes have ended: by it a request that was signed before the last end is known.
    private(set) var endedRounds = 0
    /// Why the last refresh failed; nil: it did not, or there is a credential since that was set from outside.
    private var lastFailure: (any Error)?

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
        case fail(any Error)

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
        guard let credential else { return .fail(AuthenticationError.missingCredential) }
        if isRefreshing { return .join }
        return credential.requiresRefresh ? start(credential, now) : .use(credential)
    }

    /// A request that was signed with the present credential was refused.
    ///
    /// - Parameters:
    ///   - rounds: how many refreshes had ended when it was signed; nil where nobody knows.
    ///   - now: the time.
    mutating func refused(signedAfter rounds: Int?, now: Duration) -> Step {
        if !isRefreshing, let lastFailure, let rounds, rounds < endedRounds { return .fail(lastFailure) }
        guard let credential else { return .fail(AuthenticationError.missingCredential) }
        return isRefreshing ? .join : start(credential, now)
    }

    /// A refresh has ended; answers whether it was the one that is waited for.
    mutating func end(_ number: Int, with outcome: Result<Credential, any Error>) -> Bool {
        guard rounds.end(number) else { return false }
        endedRounds += 1
        switch outcome {
        case .success(let new): (credential, lastFailure) = (new, nil)
        case .failure(let error): lastFailure = error
        }
        return true
    }

    /// A credential, or none, comes from outside; a refresh that goes on is overtaken.
    mutating func replace(with new: Credential?) {
        credential = new
        lastFailure = nil
        rounds.abandon()
    }

    private mutating func start(_ credential: Credential, _ now: Duration) -> Step {
        guard !history.isExhausted(now: now) else { return .fail(AuthenticationError.excessiveRefresh) }
        history.note(now: now)
        return .start(rounds.begin(), credential)
    }
}
