// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

/// What URLSession reports as sent, and the number of bytes that follows from it.
struct TransmissionMetrics: Hashable {
    /// The metrics of one transaction of a task.
    struct Transaction: Hashable {
        /// Whether URLSession began to send the request.
        var requestBegan: Bool
        /// The bytes of the head and of the body that were sent.
        var headBytes: Int64 = 0
        var bodyBytes: Int64 = 0
    }

    /// Whether a task was started.
    var wasStarted = false
    /// The body bytes that URLSession has reported as sent.
    var bodyBytes: Int64 = 0
    /// The transactions in the metrics; nil without metrics.
    var transactions: [Transaction]?

    /// The bytes that may have been sent; zero only if that is certain, nil if unknown.
    var bytesSent: Int64? {
        guard wasStarted else { return 0 }
        guard let transactions, !transactions.isEmpty else { return bodyBytes > 0 ? bodyBytes : nil }
        let counted = transactions.reduce(Int64(0)) { sum, transaction in
            Self.sum(sum, Self.sum(transaction.headBytes, transaction.bodyBytes))
        }
        let known = max(counted, bodyBytes)
        // A request that was begun may have been sent although no bytes were counted.
        return transactions.contains(where: \.requestBegan) ? max(known, 1) : known
    }

    private static func sum(_ left: Int64, _ right: Int64) -> Int64 {
        let (sum, overflow) = max(0, left).addingReportingOverflow(max(0, right))
        return overflow ? .max : sum
    }
}
