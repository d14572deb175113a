/// What lies between a policy and a retrier that wraps it: the answer of a retrier has room for a delay only.
extension Request {
    /// Keeps a policy's whole judgement, for the retrier that has asked it.
    func offer(_ judgement: RetryJudgement) { state.withLock { $0.withRare { $0.offer = judgement } } }

    /// What the last policy has offered to the retrier that was asked.
    func takeOffer() -> RetryJudgement? {
        state.withLock { state in
            defer { state.rare?.offer = nil }
            return state.rare?.offer
        }
    }

    /// Forgets what was offered before.
    func forgetOffer() { state.withLock { $0.rare?.offer = nil } }
}
