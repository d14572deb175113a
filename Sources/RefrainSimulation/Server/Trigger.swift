// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

extension Storm {
    /// A disturbance of a service during a storm; several can be combined.
    public struct Trigger: Sendable, Hashable {
        enum Effect: Sendable, Hashable {
            case spike(factor: Double)
            case outage(Failure)
            case slowdown(factor: Double)
            case loss(share: Double)
            case deploy(instances: Int)
            case coldCache(factor: Double, entries: Int)
        }

        struct Part: Sendable, Hashable {
            var effect: Effect
            var start: Duration
            var length: Duration
        }

        /// The behaviour of a server in an outage.
        public enum Failure: String, Sendable, Hashable, CaseIterable {
            /// An answer of status 503, after 10 ms.
            case unavailable
            /// A refused connection, after 1 ms.
            case refused
            /// No answer.
            case silence
        }

        var parts: [Part]

        /// Nothing happens.
        public static let none = Trigger(parts: [])

        /// The load is `factor` times what it usually is.
        public static func spike(_ factor: Double = 2, at start: Duration, lasting length: Duration) -> Trigger {
            Trigger(parts: [Part(effect: .spike(factor: factor), start: start, length: length)])
        }

        /// Every request fails.
        public static func outage(
            at start: Duration,
            lasting length: Duration,
            as failure: Failure = .unavailable
        ) -> Trigger {
            Trigger(parts: [Part(effect: .outage(failure), start: start, length: length)])
        }

        /// Every request takes `factor` times as long.
        public static func slowdown(_ factor: Double, at start: Duration, lasting length: Duration) -> Trigger {
            Trigger(parts: [Part(effect: .slowdown(factor: factor), start: start, length: length)])
        }

        /// A share of the requests is lost on the way: their clients wait until their timeout.
        public static func packetLoss(_ share: Double, at start: Duration, lasting length: Duration) -> Trigger {
            Trigger(parts: [Part(effect: .loss(share: share), start: start, length: length)])
        }

        /// Each of `instances` restarts in turn, and refuses its share of the connections for `downtime`.
        public static func deploy(instances: Int, downtime: Duration, at start: Duration) -> Trigger {
            let length = Duration.delay(seconds: downtime.inSeconds * Double(max(instances, 0)))
            return Trigger(parts: [Part(effect: .deploy(instances: instances), start: start, length: length)])
        }

        /// A cache empties: requests take up to `factor` times as long, until `entries` have been answered anew.
        public static func coldCache(_ factor: Double, entries: Int, at start: Duration) -> Trigger {
            let effect = Effect.coldCache(factor: factor, entries: entries)
            return Trigger(parts: [Part(effect: effect, start: start, length: .zero)])
        }

        /// Both of two triggers.
        public func and(_ other: Trigger) -> Trigger { Trigger(parts: parts + other.parts) }

        /// When the first part begins; nil where nothing happens.
        public var start: Duration? { parts.map(\.start).min() }
        /// When the last part ends; nil where nothing happens.
        public var end: Duration? { parts.map { $0.start.addingSaturated($0.length) }.max() }

        /// The same trigger, longer by a factor; a cold cache has as many more entries to fill.
        func scaled(by factor: Double) -> Trigger {
            var copy = self
            for index in copy.parts.indices {
                if case .coldCache(let slowness, let entries) = copy.parts[index].effect {
                    let scaled = min((Double(entries) * factor).rounded(), 0x1p62)
                    copy.parts[index].effect = .coldCache(factor: slowness, entries: max(1, Int(scaled)))
                }
                copy.parts[index].length = .delay(seconds: copy.parts[index].length.inSeconds * factor)
            }
            return copy
        }

        func check() throws(InvalidArgument) {
            for part in parts {
                let times = Duration.zero ... .seconds(1 << 31)
                guard times.contains(part.start) else {
                    throw InvalidArgument("at", is: part.start, expected: "from zero to \(times.upperBound)")
                }
                guard times.contains(part.length) else {
                    throw InvalidArgument("lasting", is: part.length, expected: "from zero to \(times.upperBound)")
                }
                switch part.effect {
                case .spike(let factor) where !(factor >= 0 && factor <= 1e6):
                    throw InvalidArgument("spike", is: factor, expected: "a factor from 0 to 1000000")
                case .slowdown(let factor) where !(factor > 0 && factor <= 1e6):
                    throw InvalidArgument("slowdown", is: factor, expected: "a factor over 0, up to 1000000")
                case .loss(let share) where !(0...1).contains(share):
                    throw InvalidArgument("packetLoss", is: share, expected: "a share from 0 to 1")
                case .deploy(let instances) where instances < 1:
                    throw InvalidArgument("instances", is: instances, expected: "1 or more")
                case .coldCache(let factor, let entries) where !(factor >= 1 && factor <= 1e6) || entries < 1:
                    throw InvalidArgument(
                        "coldCache",
                        is: "\(factor), \(entries)",
                        expected: "a factor from 1 to 1000000 and 1 entry or more"
                    )
                default: break
                }
            }
        }
    }
}

/// The current effect of a trigger, evaluated for each arrival, request and answer.
struct TriggerState {
    private struct Part {
        let effect: Storm.Trigger.Effect
        let start: Double
        let end: Double
    }

    private let parts: [Part]
    /// The answers that have filled a cold cache so far.
    private var filled = 0.0

    init(_ trigger: Storm.Trigger) {
        parts = trigger.parts.map {
            Part(effect: $0.effect, start: $0.start.inSeconds, end: $0.start.inSeconds + $0.length.inSeconds)
        }
    }

    /// The times at which the load changes.
    var loadChanges: [Double] {
        parts.flatMap { part -> [Double] in
            if case .spike = part.effect { return [part.start, part.end] }
            return []
        }
    }

    /// How many times the usual load there is.
    func load(at time: Double) -> Double {
        parts.reduce(1) { load, part in
            guard case .spike(let factor) = part.effect, time >= part.start, time < part.end else { return load }
            return load * factor
        }
    }

    /// How many times as long a request takes as usual.
    func slowness(at time: Double) -> Double {
        parts.reduce(1) { slowness, part in
            switch part.effect {
            case .slowdown(let factor) where time >= part.start && time < part.end: return slowness * factor
            case .coldCache(let factor, let entries) where time >= part.start:
                let missing = max(0, 1 - filled / Double(entries))
                return slowness * (1 + (factor - 1) * missing)
            default: return slowness
            }
        }
    }

    /// The outcome of a request before it reaches the server; nil: it arrives.
    func fate(at time: Double, _ chance: inout Chance) -> Storm.Trigger.Failure? {
        for part in parts where time >= part.start && time < part.end {
            switch part.effect {
            case .outage(let failure): return failure
            case .loss(let share): if chance.unit() < share { return .silence }
            case .deploy(let instances): if chance.unit() * Double(instances) < 1 { return .refused }
            case .spike, .slowdown, .coldCache: break
            }
        }
        return nil
    }

    /// Notes an answer of the server's.
    mutating func noteAnswer(at time: Double) {
        for part in parts {
            if case .coldCache = part.effect, time >= part.start { filled += 1 }
        }
    }
}
