internal import RefrainCore

extension Storm.Report {
    /// The report as a JSON object (RFC 8259): times in seconds, the same bytes for the same seed.
    ///
    /// The speed is left out, which a seed does not fix.
    public var json: String {
        func number(_ value: Double) -> String { Decimal.short(value) }
        func list(_ values: [Int]) -> String { "[\(values.map(String.init).joined(separator: ","))]" }
        func optional(_ value: Double?) -> String { value.map(number) ?? "null" }
        let waves = wave.map { "{\"strength\":\(number($0.strength)),\"period\":\(number($0.period.inSeconds))}" }
        let members: [(String, String)] = [
            ("name", Self.quoted(name)),
            ("clients", "\(clients)"),
            ("seed", "\(seed)"),
            ("duration", number(duration.inSeconds)),
            ("trigger_start", optional(triggerStart?.inSeconds)),
            ("trigger_end", optional(triggerEnd?.inSeconds)),
            ("calls", "\(calls)"),
            ("successes", "\(successes)"),
            ("sends", list(tierSends)),
            ("amplification", number(amplification)),
            ("good_before", optional(goodBefore)),
            ("good_during", optional(goodDuring)),
            ("good_after", optional(goodAfter)),
            ("recovery", optional(recovery?.inSeconds)),
            ("wave", waves ?? "null"),
            ("latency_median", number(medianLatency.inSeconds)),
            ("latency_p99", number(highLatency.inSeconds)),
            ("interval", number(series.interval.inSeconds)),
            ("offered", list(series.offered)),
            ("sent", list(series.sent)),
            ("good", list(series.good)),
            ("failed", list(series.failed)),
            ("in_flight", list(series.inFlight)),
            ("latency", "[\(series.latency.map(number).joined(separator: ","))]"),
        ]
        let groups = groups.map {
            "{\"name\":\(Self.quoted($0.name)),\"calls\":\($0.calls),\"sends\":\($0.sends),\"successes\":\($0.successes)}"
        }
        let all = members + [("groups", "[\(groups.joined(separator: ","))]")]
        return "{" + all.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }

    private static func quoted(_ text: String) -> String {
        var result = "\""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "\"": result += "\\\""
            case "\\": result += "\\\\"
            case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value):
                let digits = String(scalar.value, radix: 16)
                result += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result + "\""
    }
}
