internal import RefrainHTTP

/// What URLSession has said of what it has sent, and what follows from it (rule R2 a).
struct SendEvidence: Hashable {
    /// What the metrics say of one transaction of a task.
    struct Transaction: Hashable {
        /// Whether URLSession came as far as to begin to send.
        var requestBegan: Bool
        /// The bytes of the head, and those of the body, that were sent.
        var headBytes: Int64 = 0
        var bodyBytes: Int64 = 0
    }

    /// Whether a task was started at all.
    var wasStarted = false
    /// The bytes of the body that URLSession has announced as sent.
    var bodyBytes: Int64 = 0
    /// What the metrics say; nil where there are none.
    var transactions: [Transaction]?

    /// The bytes that can have left, zero only where that is known; nil where it is not.
    var bytesSent: Int64? {
        guard wasStarted else { return 0 }
        guard let transactions, !transactions.isEmpty else { return bodyBytes > 0 ? bodyBytes : nil }
        let counted = transactions.reduce(Int64(0)) { sum, transaction in
            Self.sum(sum, Self.sum(transaction.headBytes, transaction.bodyBytes))
        }
        let known = max(counted, bodyBytes)
        // A request that was begun can have left although nothing of it was counted.
        return transactions.contains(where: \.requestBegan) ? max(known, 1) : known
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = max(0, left).addingReportingOverflow(max(0, right))
        return overflow ? .max : sum
    }
}
