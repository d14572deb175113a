import Testing

/// Every rule has tests that carry its number, and a row in the documentation.
@Suite("Rules")
struct RulesTests {
    @Test("each rule has a test that carries its number", arguments: Array(1...33))
    func hasTest(rule: Int) throws {
        let marker = "@Test(\"R\(rule): "
        let wrapped = "\"R\(rule): "
        let tests = try SourceTree.testFiles()
        #expect(tests.contains { $0.contains(marker) || $0.contains(wrapped) }, "no test begins with R\(rule):")
    }

    @Test(
        "each rule has a row in Documentation/Rules.md that links its code and its tests",
        arguments: Array(1...33)
    )
    func isDocumented(rule: Int) throws {
        let lines = try SourceTree.text(of: "Documentation/Rules.md").split(separator: "\n")
        let row = try #require(lines.first { $0.hasPrefix("| **R\(rule)** ") })
        #expect(row.contains("](../Sources/"))
        #expect(row.contains("](../Tests/"))
    }
}
