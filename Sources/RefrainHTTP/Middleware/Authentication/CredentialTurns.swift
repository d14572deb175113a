/// A credential, and the rounds in which a new one is obtained, as a pure state machine (rule R27).
///
/// There is at most one round at a time. Credentials have versions: a request that was refused with an older one than
/// the present needs no round. A request that was under way while a round failed shares in that failure, however late
/// its own refusal comes; only a request that begins afterwards opens a round again.
struct CredentialTurns<Credential> {
    /// What a request was signed with, and when.
    struct Ticket: Equatable {
        /// The credential's version; 0: unsigned.
        var version = 0
        /// How many rounds had ended.
        var rounds = 0

        /// A request that was sent before anything was known.
        static var unsigned: Ticket { Ticket() }
    }

    /// What somebody who needs a credential shall do.
    enum Step {
        case use(Credential, Ticket)
        /// Wait for the round that goes on.
        case join
        /// Begin a round with this number, in place of the credential, and wait for it.
        case start(round: Int, replacing: Credential?)
        case fail(AuthenticationFailure)
    }

    private(set) var credential: Credential?
    private var obtaining = Rounds()
    private var version = 0
    private var isRefused = false
    private var endedRounds = 0
    private var lastFailure: AuthenticationFailure?

    /// The number of the round that goes on.
    var round: Int? { obtaining.current }

    /// A request is to be signed, with a credential that must be had.
    mutating func sign(if isUsable: (Credential) -> Bool) -> Step {
        if round != nil { return .join }
        if let credential, !isRefused, isUsable(credential) { return .use(credential, ticket) }
        return .start(round: obtaining.begin(), replacing: credential)
    }

    /// A request is to be signed if that is possible without a new round; nil where it is not.
    mutating func signIfKnown(if isUsable: (Credential) -> Bool) -> Step? {
        if round != nil { return .join }
        guard let credential, !isRefused, isUsable(credential) else { return nil }
        return .use(credential, ticket)
    }

    /// A request was refused.
    mutating func refused(_ ticket: Ticket, if isUsable: (Credential) -> Bool) -> Step {
        if round == nil, let lastFailure, ticket.rounds < endedRounds { return .fail(lastFailure) }
        markRefused(ticket)
        return sign(if: isUsable)
    }

    /// A request was refused, and will not be sent again: the next one shall not be signed with the same credential.
    mutating func markRefused(_ ticket: Ticket) {
        if ticket.version == version, version > 0 { isRefused = true }
    }

    /// A round has ended; answers whether it was the one that is waited for.
    mutating func end(round number: Int, with outcome: Result<Credential, AuthenticationFailure>) -> Bool {
        guard obtaining.end(number) else { return false }
        endedRounds += 1
        switch outcome {
        case .success(let new):
            credential = new
            version += 1
            isRefused = false
            lastFailure = nil
        case .failure(let failure):
            lastFailure = failure
        }
        return true
    }

    /// Back to the beginning; a round that goes on counts no more.
    mutating func forget() {
        credential = nil
        obtaining.abandon()
        isRefused = false
        lastFailure = nil
        // Versions go on, so that a request from before is not taken for one that was signed since.
        version += 1
    }

    /// The ticket of a request that is sent now; what it is signed with has the present version.
    var ticket: Ticket { Ticket(version: version, rounds: endedRounds) }

    /// The ticket of a request that is sent unsigned now.
    var unsignedTicket: Ticket { Ticket(version: 0, rounds: endedRounds) }
}
