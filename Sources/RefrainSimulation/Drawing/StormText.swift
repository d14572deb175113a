// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

extension Storm {
    /// Reports as a table: plain text for a terminal, or the rows of a page.
    public struct Table: Sendable {
        /// The names of the columns.
        public let head: [String]
        /// The cells, row by row.
        public let rows: [[String]]

        /// One row for each report; reports of the same name and number of clients, from several seeds, share one.
        public init(_ reports: [Report]) {
            let hasNames = Set(reports.map(\.name)).count > 1
            let hasSizes = Set(reports.map(\.clients)).count > 1
            let hasQuota = reports.contains { $0.quotaUsed != nil }
            head =
                (hasNames ? ["policy"] : []) + (hasSizes ? ["clients"] : [])
                + ["sends a call"] + (hasQuota ? ["% refused", "% of quota"] : [])
                + ["% good before", "during", "after", "back after", "p99", "waves"]
            var keys: [Key] = []
            var members: [Key: [Report]] = [:]
            for report in reports {
                let key = Key(name: report.name, clients: report.clients)
                if members[key] == nil { keys.append(key) }
                members[key, default: []].append(report)
            }
            rows = keys.map { key in
                let reports = members[key] ?? []
                let names = (hasNames ? [key.name] : []) + (hasSizes ? ["\(key.clients)"] : [])
                return names + Self.cells(reports, hasQuota)
            }
        }

        private struct Key: Hashable {
            let name: String
            let clients: Int
        }

        /// The median over seeds, with the lowest and highest where there are several.
        private static func cells(_ reports: [Report], _ hasQuota: Bool) -> [String] {
            let count = reports.count
            let recovered = reports.compactMap(\.recovery).map(\.inSeconds).sorted()
            let back: String
            if recovered.isEmpty {
                back = reports.first?.triggerEnd == nil ? "–" : "never"
            } else {
                let median = recovered[recovered.count / 2]
                let share = recovered.count < count ? " in \(recovered.count) of \(count)" : ""
                back = "\(Decimal.short(median)) s\(share)"
            }
            let wave = reports.compactMap(\.wave).max { $0.strength < $1.strength }
            let quota = [
                spread(reports.map(\.refusedShare)) { Decimal.percent($0) },
                spread(reports.compactMap(\.quotaUsed)) { Decimal.percent($0) },
            ]
            return [spread(reports.map(\.amplification)) { Decimal.text($0) }] + (hasQuota ? quota : []) + [
                spread(reports.compactMap(\.goodBefore)) { Decimal.percent($0) },
                spread(reports.compactMap(\.goodDuring)) { Decimal.percent($0) },
                spread(reports.compactMap(\.goodAfter)) { Decimal.percent($0) },
                back,
                spread(reports.map(\.highLatency.inSeconds)) { "\(Decimal.text($0, places: 1)) s" },
                wave.map { "\(Decimal.text($0.strength)) each \(Decimal.short($0.period.inSeconds)) s" } ?? "–",
            ]
        }

        private static func spread(_ values: [Double], _ text: (Double) -> String) -> String {
            guard !values.isEmpty else { return "–" }
            let sorted = values.sorted()
            let median = text(sorted[sorted.count / 2])
            let (low, high) = (text(sorted[0]), text(sorted[sorted.count - 1]))
            return low == high ? median : "\(median) (\(low) … \(high))"
        }

        /// The table in columns of equal width.
        public var text: String {
            let lines = [head] + rows
            let widths = head.indices.map { column in lines.map { $0[column].count }.max() ?? 0 }
            return lines.map { line in
                zip(line, widths).map { $0 + String(repeating: " ", count: $1 - $0.count) }
                    .joined(separator: "  ").trimmingEnd() + "\n"
            }.joined()
        }

        /// The table in Markdown.
        public var markdown: String {
            let rule = head.map { _ in "---" }
            return ([head, rule] + rows).map { "| \($0.joined(separator: " | ")) |\n" }.joined()
        }
    }
}

extension String {
    fileprivate func trimmingEnd() -> String {
        var copy = self
        while copy.last == " " { copy.removeLast() }
        return copy
    }
}

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
            ("name", JSONText.quoted(name)),
            ("clients", "\(clients)"),
            ("seed", "\(seed)"),
            ("duration", number(duration.inSeconds)),
            ("trigger_start", optional(triggerStart?.inSeconds)),
            ("trigger_end", optional(triggerEnd?.inSeconds)),
            ("calls", "\(calls)"),
            ("successes", "\(successes)"),
            ("sends", list(tierSends)),
            ("refused", "\(refusals)"),
            ("quota_used", optional(quotaUsed)),
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
            "{\"name\":\(JSONText.quoted($0.name)),\"calls\":\($0.calls),\"sends\":\($0.sends),\"successes\":\($0.successes)}"
        }
        let all = members + [("groups", "[\(groups.joined(separator: ","))]")]
        return "{" + all.map { "\"\($0.0)\":\($0.1)" }.joined(separator: ",") + "}"
    }
}
