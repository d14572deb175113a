/// What lies between a retrier of this library and one that wraps it.
///
/// The answer of a retrier has room for a delay only.
enum RetryOffer {
    /// A policy's whole judgement.
    case judgement(RetryJudgement)
    /// A retry that uses up no try.
    case free(any UsesNoTry)
}

extension Request {
    /// Keeps what is offered, for the retrier that has asked; of several offers to one retrier the last one counts.
    func offer(_ offer: RetryOffer) { state.withLock { $0.withRare { $0.offer = offer } } }

    /// What was offered last to the retrier that was asked.
    func takeOffer() -> RetryOffer? {
        state.withLock { state in
            defer { state.rare?.offer = nil }
            return state.rare?.offer
        }
    }

    /// Forgets what was offered before.
    func forgetOffer() { state.withLock { $0.rare?.offer = nil } }
}
