// SPDX-License-Identifier: Apache-2.0
import FoundationEssentials

/// Puts the tables of a run into the documentation, between markers; what stands around them is left alone.
enum Publication {
    static func write(_ results: Results, into path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw BenchFailure("there is no \(path)") }
        let report = Report(results: results)
        // The targets come first here: they are what a reader looks for.
        let tables = (report.tables.suffix(1) + report.tables.dropLast()).map { $0.table.markdown(leading: $0.leading) }
        let text = String(decoding: data, as: UTF8.self)
        let shown = try replace("results", in: text) { _ in
            (["Measured " + report.circumstances + "."] + tables).joined(separator: "\n\n")
        }
        let row = History.row(results)
        let whole = try replace("history", in: shown) { rows in
            // A commit has one row, that of its latest run.
            let commit = "| \(results.circumstances.commit) |"
            let others = rows.split(separator: "\n").filter { !$0.contains(commit) }
            return (others + [row[...]]).joined(separator: "\n")
        }
        try writeFile(path, Data(whole.utf8))
    }

    /// Replaces what stands between two markers.
    private static func replace(_ name: String, in text: String, _ change: (Substring) -> String) throws -> String {
        let (begin, end) = ("<!-- \(name): begin -->\n", "<!-- \(name): end -->")
        guard let first = text.firstRange(of: begin),
            let last = text[first.upperBound...].firstRange(of: end)
        else { throw BenchFailure("the documentation has no markers for its \(name)") }
        let between = text[first.upperBound..<last.lowerBound]
        return text[..<first.upperBound] + change(between) + "\n" + text[last.lowerBound...]
    }
}

/// The few figures of a run that its successors are compared with.
enum History {
    /// A row of the table in the documentation.
    static func row(_ results: Results) -> String {
        func median(_ scenario: String, _ client: String, _ metric: String) -> Double? {
            results.series(of: scenario).first { $0.client == client }?.metrics[metric]?.median
        }
        func ratio(_ scenario: String, _ metric: String) -> String {
            guard let ours = median(scenario, "session", metric),
                let theirs = median(scenario, "curl-multi", metric)
            else { return "–" }
            return Text.number(ours / theirs, 2)
        }
        func target(_ name: String, _ what: String) -> String {
            let found = results.targets.first { $0.name == name && $0.what == what }
            return Text.number(found?.value, found?.digits ?? 2)
        }
        let cells = [
            results.circumstances.date, results.circumstances.commit,
            median("64-2b", "session", Metric.rate).map(Text.grouped) ?? "–",
            ratio("64-2b", Metric.rate), ratio("64-2b", Metric.cpu),
            Text.number(median("64-2b", "session", Metric.mallocs), 1),
            ratio("sequential", Metric.rate), Text.number(median("sequential", "session", Metric.switches), 2),
            target("Session, 10,000 in flight", "MB at most"),
            Text.number(median("engine", "withRetry", Metric.nanoseconds), 1),
            Text.number(median("waiters", "withRetry", Metric.bytesEach), 0),
        ]
        return "| " + cells.joined(separator: " | ") + " |"
    }
}
