/// What a ``MetricsMonitor`` has counted up to a moment: a value.
public struct MetricsSnapshot: Hashable, Sendable, Codable {
    /// Requests that were made.
    public var requestsCreated = 0
    /// Requests that ended well.
    public var requestsSucceeded = 0
    /// Requests that ended with an error.
    public var requestsFailed = 0
    /// Requests that were cancelled.
    public var requestsCancelled = 0
    /// Attempts by host and outcome.
    public var attempts: [AttemptKey: Int] = [:]
    /// Retries by host and reason.
    public var retries: [ReasonKey: Int] = [:]
    /// Ends without a further try, by host and reason.
    public var givenUp: [ReasonKey: Int] = [:]
    /// How long attempts took, by host.
    public var durations: [String: DurationHistogram] = [:]

    /// A host, and what an attempt came to: a status, or the code of an error.
    public struct AttemptKey: Hashable, Sendable, Codable {
        /// The host.
        public var host: String
        /// The status or the code.
        public var outcome: String

        /// Names a host and an outcome.
        public init(host: String, outcome: String) {
            self.host = host
            self.outcome = outcome
        }
    }

    /// A host, and a reason.
    public struct ReasonKey: Hashable, Sendable, Codable {
        /// The host.
        public var host: String
        /// The reason.
        public var reason: RetryReason

        /// Names a host and a reason.
        public init(host: String, reason: RetryReason) {
            self.host = host
            self.reason = reason
        }
    }

    /// Requests that have not ended.
    public var requestsActive: Int {
        requestsCreated.subtractingSaturated(requestsSucceeded).subtractingSaturated(requestsFailed)
            .subtractingSaturated(requestsCancelled)
    }
}

/// How many durations fell below each of some bounds.
public struct DurationHistogram: Hashable, Sendable, Codable {
    /// The bounds, in seconds: those that Prometheus' clients use.
    public static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

    /// For each bound, how many durations were at most that long and longer than the bound before; then the rest.
    public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
    /// How many there were.
    public private(set) var count = 0
    /// All of them together, in seconds.
    public private(set) var sum = 0.0

    /// Adds a duration.
    mutating func add(_ duration: Duration) {
        let seconds = duration.inSeconds
        counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
        count += 1
        sum += seconds
    }
}

extension DurationHistogram {
    private enum CodingKeys: CodingKey {
        case counts, count, sum
    }

    /// Decodes a histogram.
    ///
    /// - Throws: `DecodingError` where there is not one count for each bound and one for the rest.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        counts = try members.decode([Int].self, forKey: .counts)
        count = try members.decode(Int.self, forKey: .count)
        sum = try members.decode(Double.self, forKey: .sum)
        guard counts.count == Self.bounds.count + 1 else {
            throw DecodingError.dataCorruptedError(
                forKey: .counts,
                in: members,
                debugDescription: "there are \(counts.count) counts, and \(Self.bounds.count + 1) were expected"
            )
        }
    }
}
