// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

extension MetricsMonitor {
    /// The counts of a ``MetricsMonitor`` at one time.
    public struct Snapshot: Hashable, Sendable, Codable {
        /// The number of requests created.
        public var requestsCreated = 0
        /// The number of requests that succeeded.
        public var requestsSucceeded = 0
        /// The number of requests that failed.
        public var requestsFailed = 0
        /// The number of requests that were cancelled.
        public var requestsCancelled = 0
        /// The number of attempts by host and outcome.
        public var attempts: [AttemptKey: Int] = [:]
        /// The number of retries by host and reason.
        public var retries: [ReasonKey: Int] = [:]
        /// The number of decisions against a retry, by host and reason.
        public var givenUp: [ReasonKey: Int] = [:]
        /// The number of attempts that a circuit breaker refused or would have refused, by host and phase.
        public var circuits: [AttemptKey: Int] = [:]
        /// The durations of attempts, by host.
        public var durations: [String: DurationHistogram] = [:]

        /// A host and the outcome of an attempt: a status, an error code, or the phase of a circuit breaker.
        public struct AttemptKey: Hashable, Sendable, Codable {
            /// The host.
            public var host: String
            /// The status, the error code, or the phase.
            public var outcome: String

            /// Makes a key.
            public init(host: String, outcome: String) {
                self.host = host
                self.outcome = outcome
            }
        }

        /// A host and a reason.
        public struct ReasonKey: Hashable, Sendable, Codable {
            /// The host.
            public var host: String
            /// The reason.
            public var reason: RetryReason

            /// Makes a key.
            public init(host: String, reason: RetryReason) {
                self.host = host
                self.reason = reason
            }
        }

        /// The number of requests that have not ended.
        public var requestsActive: Int {
            requestsCreated.subtractingSaturated(requestsSucceeded).subtractingSaturated(requestsFailed)
                .subtractingSaturated(requestsCancelled)
        }
    }
}

extension MetricsMonitor.Snapshot {
    private enum CodingKeys: CodingKey {
        case requestsCreated, requestsSucceeded, requestsFailed, requestsCancelled
        case attempts, retries, givenUp, circuits, durations
    }

    /// Decodes a snapshot, also one of a version that did not count circuits.
    public init(from decoder: any Decoder) throws {
        let members = try decoder.container(keyedBy: CodingKeys.self)
        requestsCreated = try members.decode(Int.self, forKey: .requestsCreated)
        requestsSucceeded = try members.decode(Int.self, forKey: .requestsSucceeded)
        requestsFailed = try members.decode(Int.self, forKey: .requestsFailed)
        requestsCancelled = try members.decode(Int.self, forKey: .requestsCancelled)
        attempts = try members.decode([AttemptKey: Int].self, forKey: .attempts)
        retries = try members.decode([ReasonKey: Int].self, forKey: .retries)
        givenUp = try members.decode([ReasonKey: Int].self, forKey: .givenUp)
        circuits = try members.decodeIfPresent([AttemptKey: Int].self, forKey: .circuits) ?? [:]
        durations = try members.decode([String: DurationHistogram].self, forKey: .durations)
    }
}

extension MetricsMonitor.Snapshot {
    /// A histogram of durations.
    public struct DurationHistogram: Hashable, Sendable, Codable {
        /// The upper bounds in seconds, which are the defaults of the Prometheus client libraries.
        public static let bounds = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]

        /// For each bound, the number of durations up to it and above the previous one.
        ///
        /// The last element counts the rest.
        public private(set) var counts = [Int](repeating: 0, count: bounds.count + 1)
        /// The number of durations.
        public private(set) var count = 0
        /// The sum of the durations in seconds.
        public private(set) var sum = 0.0

        /// Adds a duration.
        mutating func add(_ duration: Duration) {
            let seconds = duration.inSeconds
            counts[Self.bounds.firstIndex { seconds <= $0 } ?? Self.bounds.count] += 1
            count += 1
            sum += seconds
        }
    }
}

extension MetricsMonitor.Snapshot.DurationHistogram {
    private enum CodingKeys: CodingKey {
        case counts, count, sum
    }

    /// Decodes a histogram.
    ///
    /// - Throws: `DecodingError` if the number of counts is not the number of bounds plus one.
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

extension MetricsMonitor.Snapshot {
    /// The counts in the Prometheus text format, version 0.0.4.
    public var prometheusText: String {
        var lines: [String] = []
        func family(_ name: String, _ type: String, _ help: String, _ samples: [String]) {
            lines += ["# HELP \(name) \(help)", "# TYPE \(name) \(type)"] + samples
        }
        family(
            "refrain_requests_total",
            "counter",
            "Requests by how they ended.",
            [("succeeded", requestsSucceeded), ("failed", requestsFailed), ("cancelled", requestsCancelled)].map {
                "refrain_requests_total{outcome=\"\($0.0)\"} \($0.1)"
            }
        )
        family(
            "refrain_requests_active",
            "gauge",
            "Requests that have not ended.",
            ["refrain_requests_active \(requestsActive)"]
        )
        family(
            "refrain_attempts_total",
            "counter",
            "Attempts by host and by status or error.",
            attempts.map { key, count in
                "refrain_attempts_total{\(Self.label("host", key.host)),\(Self.label("outcome", key.outcome))} \(count)"
            }.sorted()
        )
        family(
            "refrain_circuit_attempts_total",
            "counter",
            "Attempts that a circuit breaker refused or would have refused, by host and phase.",
            circuits.map { key, count in
                "refrain_circuit_attempts_total{\(Self.label("host", key.host)),\(Self.label("phase", key.outcome))} \(count)"
            }.sorted()
        )
        family("refrain_retries_total", "counter", "Retries by host and reason.", Self.samples("retries", retries))
        family(
            "refrain_given_up_total",
            "counter",
            "Ends without a further attempt, by host and reason.",
            Self.samples("given_up", givenUp)
        )
        family(
            "refrain_attempt_duration_seconds",
            "histogram",
            "How long attempts took.",
            durations.sorted { $0.key < $1.key }.flatMap { host, histogram in Self.samples(host, histogram) }
        )
        return lines.joined(separator: "\n") + "\n"
    }

    private static func samples(_ name: String, _ counts: [ReasonKey: Int]) -> [String] {
        counts.map { key, count in
            "refrain_\(name)_total{\(label("host", key.host)),\(label("reason", key.reason.rawValue))} \(count)"
        }.sorted()
    }

    private static func samples(_ host: String, _ histogram: DurationHistogram) -> [String] {
        let name = "refrain_attempt_duration_seconds"
        var lines: [String] = []
        var below = 0
        for (index, bound) in DurationHistogram.bounds.enumerated() {
            below = below.addingSaturated(histogram.counts[index])
            lines.append("\(name)_bucket{\(label("host", host)),le=\"\(bound)\"} \(below)")
        }
        lines.append("\(name)_bucket{\(label("host", host)),le=\"+Inf\"} \(histogram.count)")
        lines.append("\(name)_sum{\(label("host", host))} \(histogram.sum)")
        lines.append("\(name)_count{\(label("host", host))} \(histogram.count)")
        return lines
    }

    private static func label(_ name: String, _ value: String) -> String {
        var escaped = ""
        var previous: Unicode.Scalar?
        // By scalar: a quote followed by a combining accent is a single character, which does not equal a quote.
        for scalar in value.unicodeScalars {
            switch scalar {
            case "\\": escaped += "\\\\"
            case "\"": escaped += "\\\""
            case "\n" where previous == "\r": break
            case "\n", "\r": escaped += "\\n"
            default: escaped.unicodeScalars.append(scalar)
            }
            previous = scalar
        }
        return "\(name)=\"\(escaped)\""
    }
}
