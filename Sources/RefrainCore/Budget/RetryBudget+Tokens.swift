extension RetryBudget {
    /// What kind of failure a retry answers, as far as its price goes.
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
        /// A failure that is neither of the others.
        case transient
        /// The try's time was up; such a retry keeps a server busy that is slow already.
        case timeout
        /// The server asked for fewer requests.
        case throttled
    }

    /// What a retry costs, in tokens, by its cause.
    public struct Costs: Hashable, Sendable, Codable {
        /// The price of a retry after a failure that is neither of the others; 5 unless told otherwise.
        public var transient: Int
        /// The price of a retry after a timeout; 10 unless told otherwise.
        public var timeout: Int
        /// The price of a retry after the server asked for fewer requests; 5 unless told otherwise.
        public var throttled: Int

        /// Sets the prices.
        public init(transient: Int = 5, timeout: Int = 10, throttled: Int = 5) {
            self.transient = transient
            self.timeout = timeout
            self.throttled = throttled
        }

        /// The price of a retry with this cause.
        public subscript(cause: Cause) -> Int {
            switch cause {
            case .transient: transient
            case .timeout: timeout
            case .throttled: throttled
            }
        }
    }

    /// Opens a budget of tokens, as the AWS SDKs have it: retries take tokens out, successes put them back.
    ///
    /// It starts full. A retry takes its cost by its cause, and is refused where the store does not hold that; a call
    /// that succeeds gives back what its last retry took, or `refund` where it made none. Time plays no part, so
    /// nobody can wait for a turn: ``whenEmpty-swift.property`` is ``WhenEmpty-swift.enum/fail``. Unlike the
    /// ratio form it does not bound the load on a backend that fails only some of its requests; its strength is a
    /// different price for each kind of failure.
    ///
    /// - Parameters:
    ///   - capacity: the tokens in a full store, 1 … 1,000,000,000.
    ///   - costs: what a retry takes, each 1 … `capacity`.
    ///   - refund: what a call gives back that succeeds at its first try, 0 … `capacity`.
    /// - Throws: ``InvalidArgument`` for a value out of its range.
    public static func tokens(
        capacity: Int = 500,
        costs: Costs = Costs(),
        refund: Int = 1
    ) throws(InvalidArgument) -> RetryBudget {
        guard (1...1_000_000_000).contains(capacity) else {
            throw InvalidArgument("capacity", is: capacity, expected: "a number from 1 to 1000000000")
        }
        for cause in Cause.allCases where !(1...capacity).contains(costs[cause]) {
            throw InvalidArgument(
                "costs.\(cause.rawValue)",
                is: costs[cause],
                expected: "a number from 1 to the capacity, \(capacity)"
            )
        }
        guard (0...capacity).contains(refund) else {
            throw InvalidArgument("refund", is: refund, expected: "a number from 0 to the capacity, \(capacity)")
        }
        return RetryBudget(TokenAccount(capacity: capacity), costs: costs, refund: refund)
    }
}
