/// Where requests get a credential: the turns behind their lock, those who wait, and the task that obtains a new one.
final class CredentialDesk<Credential: Sendable>: Sendable {
    typealias Turns = CredentialTurns<Credential>

    /// What somebody who asked the desk is told.
    enum Answer: Sendable {
        case credential(Credential, Turns.Ticket)
        /// There is no credential, and none was to be obtained.
        case unsigned(Turns.Ticket)
        case failure(AuthenticationFailure)
        /// The caller's task was cancelled, or the desk was reset.
        case cancelled
    }

    private struct State {
        var turns = Turns()
        var resets = 0
        var waiters: [ObjectIdentifier: PendingAnswer<Answer>] = [:]
        var work: Task<Void, Never>?

        mutating func takeWaiters() -> [PendingAnswer<Answer>] {
            defer { waiters = [:] }
            return Array(waiters.values)
        }
    }

    private let state = Locked(State())
    private let isUsable: @Sendable (Credential) -> Bool
    private let obtain: @Sendable (Credential?) async -> Result<Credential, AuthenticationFailure>

    /// Opens a desk.
    ///
    /// - Parameters:
    ///   - isUsable: whether a credential is worth sending.
    ///   - obtain: makes a new credential, in place of one that is out of date or was refused.
    init(
        isUsable: @escaping @Sendable (Credential) -> Bool = { _ in true },
        obtain: @escaping @Sendable (Credential?) async -> Result<Credential, AuthenticationFailure>
    ) {
        self.isUsable = isUsable
        self.obtain = obtain
    }

    /// How many requests wait for a new credential.
    var waitingCount: Int { state.withLock { $0.waiters.count } }

    /// How often the credential was forgotten.
    var resetCount: Int { state.withLock { $0.resets } }

    /// Whether the present code obtains this desk's credential, and so must not wait for it.
    var isWithinWork: Bool { AuthenticationScope.desks.contains(workOf: self) }

    /// A credential to sign with; with `obtaining` a new one, where there is none.
    func sign(obtaining: Bool) async -> Answer {
        await answer { turns in
            obtaining ? turns.sign(if: isUsable) : turns.signIfKnown(if: isUsable)
        }
    }

    /// A credential in place of the one that a request was refused with.
    func replace(_ ticket: Turns.Ticket) async -> Answer {
        await answer { $0.refused(ticket, if: isUsable) }
    }

    /// Sees to it that the credential of this ticket is not sent again.
    func markRefused(_ ticket: Turns.Ticket) { state.withLock { $0.turns.markRefused(ticket) } }

    /// Forgets the credential, cancels the work, and sends away everybody who waits.
    func reset() async {
        let (waiters, work) = state.withLock { state in
            state.turns.forget()
            state.resets += 1
            return (state.takeWaiters(), state.work.take())
        }
        work?.cancel()
        for waiter in waiters { waiter.give(.cancelled) }
        guard !isWithinWork else { return }
        await work?.value
    }

    private func answer(_ decide: (inout Turns) -> Turns.Step?) async -> Answer {
        guard !Task.isCancelled else { return .cancelled }
        let waiter = PendingAnswer<Answer>()
        let key = ObjectIdentifier(waiter)
        let immediate: Answer? = state.withLock { state in
            switch decide(&state.turns) {
            case nil: return .unsigned(state.turns.unsignedTicket)
            case .use(let credential, let ticket): return .credential(credential, ticket)
            case .fail(let failure): return .failure(failure)
            case .join: break
            case .start(let round, let old): state.work = start(round, replacing: old)
            }
            // In the same step, so that no end of a round is missed.
            state.waiters[key] = waiter
            return nil
        }
        if let immediate { return immediate }
        return await withTaskCancellationHandler {
            await waiter.value
        } onCancel: {
            state.withLock { _ = $0.waiters.removeValue(forKey: key) }
            waiter.give(.cancelled)
        }
    }

    /// Obtains a credential in a task of its own: it is for all, and goes on when the request that began it leaves.
    private func start(_ round: Int, replacing old: Credential?) -> Task<Void, Never> {
        Task {
            let work = WorkScope(of: self)
            let outcome = await AuthenticationScope.$desks.withValue(AuthenticationScope.desks + [work]) {
                // The requests that obtain it have tries of their own, whichever try of another one began this.
                await RetryNesting.outside { await obtain(old) }
            }
            work.end()
            let (waiters, answer) = state.withLock { state -> ([PendingAnswer<Answer>], Answer) in
                guard state.turns.end(round: round, with: outcome) else { return ([], .cancelled) }
                state.work = nil
                switch outcome {
                case .success(let new): return (state.takeWaiters(), .credential(new, state.turns.ticket))
                case .failure(let failure): return (state.takeWaiters(), .failure(failure))
                }
            }
            for waiter in waiters { waiter.give(answer) }
        }
    }
}
