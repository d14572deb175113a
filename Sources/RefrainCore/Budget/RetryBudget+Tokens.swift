extension RetryBudget {
    /// The kind of failure that a retry follows, as far as its cost is concerned.
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
        /// A failure of neither of the other kinds.
        case transient
        /// The attempt timed out. A retry adds load to a server that is already slow.
        case timeout
        /// The server asked for fewer requests.
        case throttled
        /// The server was unavailable, as a status of 503 says; in a budget of tokens it costs what ``transient`` does.
        case unavailable
    }

    /// The cost of a retry in tokens, by its cause.
    public struct Costs: Hashable, Sendable, Codable {
        /// The cost after a failure that is neither a timeout nor throttling.
        ///
        /// Defaults to 5.
        public var transient: Int
        /// The cost after a timeout.
        ///
        /// Defaults to 10.
        public var timeout: Int
        /// The cost after the server asked for fewer requests.
        ///
        /// Defaults to 5.
        public var throttled: Int

        /// Makes the costs.
        public init(transient: Int = 5, timeout: Int = 10, throttled: Int = 5) {
            self.transient = transient
            self.timeout = timeout
            self.throttled = throttled
        }

        /// The cost of a retry with this cause.
        public subscript(cause: Cause) -> Int {
            switch cause {
            case .transient, .unavailable: transient
            case .timeout: timeout
            case .throttled: throttled
            }
        }

        /// These costs, each clamped to 1 … `capacity`.
        fileprivate func clamped(to capacity: Int) -> Costs {
            func clamp(_ cost: Int) -> Int { min(max(cost, 1), capacity) }
            return Costs(transient: clamp(transient), timeout: clamp(timeout), throttled: clamp(throttled))
        }
    }

    private static let capacities = 1...1_000_000_000

    /// Makes a budget of tokens, like the retry quota of the AWS SDKs: retries withdraw tokens, successes return them.
    ///
    /// It starts full. A retry withdraws its cost, and is refused where fewer tokens are left; a call that succeeds
    /// returns the cost of its last retry, or `refund` where it made none. Tokens do not accrue with time, so no retry
    /// can wait for them: ``whenEmpty-swift.property`` is ``WhenEmpty-swift.enum/fail``. Unlike the ratio form it does
    /// not bound the load on a backend that fails only some of its requests; in return each kind of failure has its
    /// own cost.
    ///
    /// - Parameters:
    ///   - capacity: the tokens of a full budget, clamped to 1 … 1,000,000,000.
    ///   - costs: the costs of a retry, each clamped to 1 … `capacity`.
    ///   - refund: what a call returns that succeeds at its first attempt, clamped to 0 … `capacity`.
    public static func tokens(capacity: Int = 500, costs: Costs = Costs(), refund: Int = 1) -> RetryBudget {
        let capacity = min(max(capacity, capacities.lowerBound), capacities.upperBound)
        return RetryBudget(
            TokenBucket(capacity: capacity),
            costs: costs.clamped(to: capacity),
            refund: min(max(refund, 0), capacity)
        )
    }

    /// Makes a budget of tokens of values from outside the program.
    ///
    /// The parameters are those of ``tokens(capacity:costs:refund:)``.
    ///
    /// - Throws: ``InvalidArgument`` for a value out of its range.
    public static func validatedTokens(
        capacity: Int = 500,
        costs: Costs = Costs(),
        refund: Int = 1
    ) throws(InvalidArgument) -> RetryBudget {
        guard capacities.contains(capacity) else {
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
        return tokens(capacity: capacity, costs: costs, refund: refund)
    }
}

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
