/// The arithmetic of a budget of tokens: a store that retries draw on and successes fill.
struct TokenAccount {
    private let capacity: Int
    private(set) var tokens: Int

    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Takes the cost of one retry out, or nothing where the store does not hold it.
    mutating func withdraw(_ cost: Int) -> Bool {
        guard cost <= tokens else { return false }
        tokens -= cost
        return true
    }

    /// Puts tokens back; what the store cannot hold is lost.
    mutating func refund(_ amount: Int) {
        tokens += min(amount, capacity - tokens)
    }
}
