import FoundationEssentials

/// Puts the tables of a run into the documentation, between two markers; what stands around them is left alone.
enum Publication {
    private static let begin = "<!-- results: begin -->"
    private static let end = "<!-- results: end -->"

    static func write(_ results: Results, into path: String) throws {
        guard let data = FileManager.default.contents(atPath: path) else { throw BenchFailure("there is no \(path)") }
        let text = String(decoding: data, as: UTF8.self)
        guard let first = text.firstRange(of: begin),
            let last = text[first.upperBound...].firstRange(of: end)
        else { throw BenchFailure("\(path) has no markers \(begin) and \(end)") }
        let report = Report(results: results)
        let tables = report.tables.reversed().map { $0.table.markdown(leading: $0.leading) }
        let content = (["Measured " + report.circumstances + "."] + tables).joined(separator: "\n\n")
        let whole = text[..<first.upperBound] + "\n" + content + "\n" + text[last.lowerBound...]
        try writeFile(path, Data(whole.utf8))
    }
}
