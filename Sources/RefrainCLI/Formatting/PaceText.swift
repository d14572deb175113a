// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The limits of `--pace`: requests, and cost with a `t`, each in a span of time, such as `500/m,200000t/m`.
enum PaceText {
    /// Reads the limits.
    static func parse(_ text: String, option: String) throws(UsageError) -> Pacer.Limits {
        var requests: (number: Double, interval: Duration)?
        var cost: (number: Double, interval: Duration)?
        for item in text.split(separator: ",", omittingEmptySubsequences: false) {
            let parts = item.split(separator: "/", maxSplits: 1, omittingEmptySubsequences: false).map(String.init)
            let (digits, unit) = ASCIINumber.split(parts.first ?? "")
            guard let number = ASCIINumber.decimal(digits), number > 0, unit.isEmpty || unit == "t",
                parts.count == 1 || interval(parts[1]) != nil
            else {
                throw .badValue(text, of: option, "is not a pace; write 50/s, 10/m, or 500/m,200000t/m with tokens")
            }
            guard parts.count > 1, let interval = interval(parts[1]) else {
                let meant = "write \(item)/s, or \(item)/h as curl's --rate means"
                throw .badValue(text, of: option, "names no span of time; \(meant)")
            }
            guard (unit.isEmpty ? requests : cost) == nil else {
                throw .badValue(text, of: option, "has two limits of the same kind")
            }
            if unit.isEmpty { requests = (number, interval) } else { cost = (number, interval) }
        }
        // Both in one span of time.
        let interval = cost?.interval ?? requests?.interval ?? .seconds(60)
        return .per(
            interval,
            requests: requests.map { $0.number * (interval.inSeconds / $0.interval.inSeconds) },
            cost: cost?.number
        )
    }

    /// A unit as curl writes it, or a duration.
    private static func interval(_ text: String) -> Duration? {
        switch text {
        case "s": .seconds(1)
        case "m": .seconds(60)
        case "h": .seconds(3600)
        case "d": .seconds(86_400)
        default: try? DurationText.parse(text, option: "")
        }
    }
}
