#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A row of Documentation/Surface.md: a feature, the files that implement it, and those that test it.
struct SurfaceRow: Sendable {
    /// The letter of its part.
    let part: String
    /// The first cell, up to a colon, without the marks of code.
    let name: String
    /// The linked files below `Sources`.
    let code: [String]
    /// The linked files below `Tests`.
    let tests: [String]

    /// What the names of its tests begin with.
    var marker: String { "\(part): \(name): " }

    /// The rows of the tables under headings such as `## A. Alamofire`; other tables are left out.
    static func read(_ text: String) -> [SurfaceRow] {
        var part: String?
        return text.split(separator: "\n").compactMap { row($0, &part)?.row }
    }

    /// The same text, where the last cell of each row links the files that hold its tests.
    static func linked(_ text: String, to tests: [Test]) -> String {
        var part: String?
        return text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            guard let (row, cells) = row(line, &part) else { return String(line) }
            let links = Set(tests.filter { $0.names(row) }.map(\.file)).sorted().map { file in
                "[\(file.split(separator: "/").last?.dropLast(".swift".count) ?? "")](../\(file))"
            }
            return "|\(cells[0])|\(cells[1])| \(links.joined(separator: ", ")) |"
        }.joined(separator: "\n")
    }

    private static func row(_ line: Substring, _ part: inout String?) -> (row: SurfaceRow, cells: [Substring])? {
        if line.hasPrefix("## ") { part = line.firstMatch(of: #/^## ([A-Z])\. /#).map { String($0.1) } }
        let cells = Array(line.split(separator: "|", omittingEmptySubsequences: false).dropFirst().dropLast())
        guard let part, line.hasPrefix("| "), cells.count == 3 else { return nil }
        let name = trimmed(cells[0].prefix { $0 != ":" }.replacing("`", with: ""))
        guard name != "Row" else { return nil }
        let links = line.matches(of: #/\]\(\.\./([^)]+)\)/#).map { String($0.1) }
        let row = SurfaceRow(
            part: part,
            name: name,
            code: links.filter { $0.hasPrefix("Sources/") },
            tests: links.filter { $0.hasPrefix("Tests/") }
        )
        return (row, cells)
    }

    private static func trimmed(_ text: some StringProtocol) -> String {
        String(text.drop { $0 == " " }.reversed().drop { $0 == " " }.reversed())
    }

    /// A test, by its display name.
    struct Test: Sendable {
        let file: String
        let name: String

        func names(_ row: SurfaceRow) -> Bool { name.hasPrefix(row.marker) && name.count > row.marker.count }

        /// All tests of the package that have a display name.
        static func all() throws -> [Test] {
            let folder = SourceTree.root + "/Tests"
            return try FileManager.default.subpathsOfDirectory(atPath: folder)
                .filter { $0.hasSuffix(".swift") && !$0.hasPrefix("ArchitectureTests/") }
                .sorted()
                .flatMap { path in
                    let file = "Tests/" + path
                    return try SourceTree.text(of: file).matches(of: #/@Test\(\s*"((?:[^"\\]|\\.)*)"/#)
                        .map { Test(file: file, name: String($0.1)) }
                }
        }
    }
}
