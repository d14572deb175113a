// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

extension Storm {
    /// The result of a storm.
    public struct Report: Sendable, Hashable {
        /// The name under which tables and pictures show it.
        public var name = ""
        /// The number of clients.
        public let clients: Int
        /// Where the random numbers came from.
        public let seed: UInt64
        /// The virtual time that was simulated.
        public let duration: Duration
        /// When the trigger began; nil where there was none.
        public let triggerStart: Duration?
        /// When the trigger ended; nil where there was none.
        public let triggerEnd: Duration?
        /// The calls that were made.
        public let calls: Int
        /// The calls that succeeded.
        public let successes: Int
        /// The requests that were sent to each tier of servers, the one that clients call first.
        public let tierSends: [Int]
        /// The requests that servers refused for their load, with 429, 503 or 529.
        public let refusals: Int
        /// The share of the server's quota that was used, of all that it allowed; nil where it has none.
        ///
        /// Of several limits it is that of the one that was used most.
        public let quotaUsed: Double?
        /// The share of good calls among those that ended before the trigger; nil where none did.
        public let goodBefore: Double?
        /// The share of good calls among those that ended while the trigger lasted; nil where none did.
        public let goodDuring: Double?
        /// The share of good calls among those that ended in the second half of the time after the trigger.
        public let goodAfter: Double?
        /// The time from the trigger's end until calls succeed again as before, for good; nil where they never do.
        ///
        /// From then on at least 95 % of the share before the trigger succeed in each stretch of five seconds.
        public let recovery: Duration?
        /// The strongest wave in the sends since the trigger began; nil where there is none.
        public let wave: Wave?
        /// The time that half of the calls did not exceed.
        public let medianLatency: Duration
        /// The time that 99 % of the calls did not exceed.
        public let highLatency: Duration
        /// The timeline, by intervals.
        public let series: Series
        /// The parts of a fleet with several policies.
        public let groups: [GroupReport]
        /// How many times faster than real time the simulation ran; the only value that a seed does not fix.
        public var speed: Double

        /// The requests that clients sent for each call.
        public var amplification: Double { calls > 0 ? Double(tierSends.first ?? 0) / Double(calls) : 0 }
        /// The share of the requests that servers refused for their load.
        public var refusedShare: Double {
            let sends = tierSends.reduce(0, +)
            return sends > 0 ? Double(refusals) / Double(sends) : 0
        }
        /// The share of calls that succeeded.
        public var goodShare: Double { calls > 0 ? Double(successes) / Double(calls) : 0 }
        /// Whether the service recovered from the trigger.
        public var hasRecovered: Bool { recovery != nil }

        /// Compares everything but the speed.
        public static func == (left: Report, right: Report) -> Bool { left.comparable == right.comparable }
        /// Hashes what is compared.
        public func hash(into hasher: inout Hasher) { hasher.combine(comparable) }

        private var comparable: Comparable {
            Comparable(name: name, seed: seed, calls: calls, successes: successes, sends: tierSends, series: series)
        }

        private struct Comparable: Hashable {
            let name: String
            let seed: UInt64
            let calls: Int
            let successes: Int
            let sends: [Int]
            let series: Series
        }
    }

    /// The result of a part of the fleet.
    public struct GroupReport: Sendable, Hashable {
        /// The name of the group.
        public let name: String
        /// The calls that its clients made.
        public let calls: Int
        /// The requests that its clients sent.
        public let sends: Int
        /// The calls that succeeded.
        public let successes: Int
    }

    /// The timeline of a storm, in intervals of equal length.
    public struct Series: Sendable, Hashable {
        /// The length of an interval.
        public let interval: Duration
        /// The calls that began.
        public internal(set) var offered: [Int]
        /// The requests that clients sent.
        public internal(set) var sent: [Int]
        /// The calls that ended well.
        public internal(set) var good: [Int]
        /// The calls that failed.
        public internal(set) var failed: [Int]
        /// The requests that waited for an answer at the interval's end.
        public internal(set) var inFlight: [Int]
        /// The mean time, in seconds, of the calls that ended.
        public internal(set) var latency: [Double]

        init(interval: Duration, count: Int) {
            self.interval = interval
            let zeros = Array(repeating: 0, count: count)
            (offered, sent, good, failed, inFlight) = (zeros, zeros, zeros, zeros, zeros)
            latency = Array(repeating: 0, count: count)
        }

        /// The time from an interval until, in every five seconds, good calls are `share` of those that end.
        func recovery(from start: Int, share: Double) -> Duration? {
            let window = max(1, Int((5 / interval.inSeconds).rounded()))
            // The last interval is cut by the storm's end.
            let end = offered.count - 1
            guard start + window <= end else { return nil }
            var firstGood = end
            for first in stride(from: end - window, through: start, by: -1) {
                let good = good[first..<first + window].reduce(0, +)
                let ended = good + failed[first..<first + window].reduce(0, +)
                let offered = offered[first..<first + window].reduce(0, +)
                guard ended > 0 ? Double(good) >= share * Double(ended) : offered == 0 else { break }
                firstGood = first
            }
            guard firstGood < end else { return nil }
            return .delay(seconds: Double(firstGood - start) * interval.inSeconds)
        }
    }

    /// A wave: sends that repeatedly coincide.
    public struct Wave: Sendable, Hashable {
        /// The autocorrelation of the sends at ``period``, up to 1.
        public let strength: Double
        /// The time between two crests.
        public let period: Duration

        /// The highest local maximum of the autocorrelation; nil where there is none above 0.1.
        init?(_ sends: [Int], from start: Int, interval: Duration) {
            let values = sends.dropFirst(start).dropLast().map(Double.init)
            guard values.count >= 16 else { return nil }
            let mean = values.reduce(0, +) / Double(values.count)
            let deviations = values.map { $0 - mean }
            let variance = deviations.reduce(0) { $0 + $1 * $1 }
            guard variance > 0 else { return nil }
            let correlations = (0...(values.count / 2)).map { lag in
                zip(deviations, deviations.dropFirst(lag)).reduce(0) { $0 + $1.0 * $1.1 } / variance
            }
            var best: (lag: Int, value: Double)?
            for lag in 2..<(correlations.count - 1) {
                let value = correlations[lag]
                guard value > correlations[lag - 1], value >= correlations[lag + 1], value > best?.value ?? 0.1 else {
                    continue
                }
                best = (lag, value)
            }
            guard let best else { return nil }
            strength = best.value
            period = .delay(seconds: Double(best.lag) * interval.inSeconds)
        }
    }
}
