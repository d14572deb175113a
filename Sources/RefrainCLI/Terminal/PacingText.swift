// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// What held an attempt back before it was sent: in a report, and in words.
enum PacingText {
    private typealias Part = (member: String, path: WritableKeyPath<AttemptRecord.Pacing, Duration>, words: String)

    /// The members of a report, in its order.
    private static var parts: [Part] {
        [
            ("held_ms", \.heldFor, "by a refusal that named a time"),
            ("waited_for_rate_ms", \.waitedForRate, "by the limit of requests"),
            ("waited_for_cost_ms", \.waitedForCost, "by the limit of their cost"),
            ("waited_for_concurrency_ms", \.waitedForConcurrency, "by the number under way to its server"),
            ("waited_for_throttle_ms", \.waitedForThrottle, "by a throttle"),
        ]
    }

    /// The members of a report; what was no wait is left out.
    static func members(_ pacing: AttemptRecord.Pacing) -> [(String, JSON)] {
        var members: [(String, JSON)] = []
        if let date = pacing.heldUntil { members.append(("held_until", .string("\(date)"))) }
        for part in parts where pacing[keyPath: part.path] > .zero {
            members.append((part.member, .rounded(pacing[keyPath: part.path].inSeconds * 1000, places: 3)))
        }
        if let circuit = pacing.circuit { members.append(("circuit", .string(circuit.rawValue))) }
        return members
    }

    /// Reads the members of a report; nil: nothing held the attempt back.
    static func pacing(of node: JSONNode) -> AttemptRecord.Pacing? {
        var pacing = AttemptRecord.Pacing()
        for part in parts {
            guard case .number(let number)? = node[part.member]?.value, (0..<1e15).contains(number) else { continue }
            pacing[keyPath: part.path] = .milliseconds(number)
        }
        pacing.circuit = node["circuit"]?.text.flatMap { AttemptRecord.Pacing.Circuit(rawValue: $0) }
        return pacing.total > .zero || pacing.circuit != nil ? pacing : nil
    }

    /// Such as `held back 2.00 s by a refusal that named a time, 140 ms by the limit of requests`.
    static func words(_ pacing: AttemptRecord.Pacing) -> String {
        let circuit = pacing.circuit.map { circuit in
            switch circuit {
            case .open: "a circuit breaker would be open"
            case .halfOpen: "a circuit breaker would be half open"
            case .ramp: "a circuit breaker would let a share of the requests go"
            }
        }
        let isHeld = pacing.total > .zero || pacing.heldUntil != nil
        return [isHeld ? "held back \(waits(of: pacing))" : nil, circuit].compactMap(\.self).joined(separator: "; ")
    }

    private static func waits(of pacing: AttemptRecord.Pacing) -> String {
        let waits = parts.filter { pacing[keyPath: $0.path] > .zero }.map { part in
            "\(DurationText.short(pacing[keyPath: part.path])) \(part.words)"
        }
        guard waits.isEmpty else { return waits.joined(separator: ", ") }
        return pacing.heldUntil.map { "until \(DateText.localTime($0))" } ?? "for no time"
    }
}
