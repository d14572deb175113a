/// The arithmetic of a budget of tokens: retries withdraw, successes return.
struct TokenBucket {
    private let capacity: Int
    private(set) var tokens: Int

    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Withdraws the cost of one retry.
    ///
    /// Returns false, and withdraws nothing, where fewer tokens are left.
    mutating func withdraw(_ cost: Int) -> Bool {
        guard cost <= tokens else { return false }
        tokens -= cost
        return true
    }

    /// Returns tokens, up to the capacity.
    mutating func refund(_ amount: Int) {
        tokens += min(amount, capacity - tokens)
    }
}
