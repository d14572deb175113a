internal import Refrain

/// The table at the end of the demonstration.
enum DemoTable {
    /// The table of two runs: faults in passing, and an outage.
    static func text(_ columns: [(title: String, run: LoadRun)]) -> String {
        let reasons = Set(columns.flatMap(\.run.retries.keys)).sorted { $0.rawValue < $1.rawValue }
        var rows: [[String]] = [[""] + columns.map(\.title)]
        func row(_ name: String, _ value: (LoadRun) -> String) { rows.append([name] + columns.map { value($0.run) }) }
        row("requests") { "\($0.requests)" }
        row("sends, as the server counted them") { "\($0.sends)" }
        row("sends for each request") { Decimals.text(Double($0.sends) / Double(max($0.requests, 1)), places: 2) }
        row("successes") { "\($0.successes)" }
        for reason in reasons { row("retries: \(reason)") { "\($0.retries[reason, default: 0])" } }
        row("p50") { DurationText.short($0.percentile(0.5)) }
        row("p99") { DurationText.short($0.percentile(0.99)) }
        row("all in") { DurationText.short($0.elapsed) }
        return drawn(rows)
    }

    private static func drawn(_ rows: [[String]]) -> String {
        let widths = (rows.first ?? []).indices.map { column in rows.map { $0[column].count }.max() ?? 0 }
        return rows.map { row in
            row.enumerated().map { index, cell in
                let space = String(repeating: " ", count: widths[index] - cell.count)
                return index == 0 ? cell + space : space + cell
            }.joined(separator: "   ") + "\n"
        }.joined()
    }
}
