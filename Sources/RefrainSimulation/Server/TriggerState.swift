internal import RefrainCore

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
