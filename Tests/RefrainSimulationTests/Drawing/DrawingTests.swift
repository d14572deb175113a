import RefrainCore
import RefrainHTTP
import RefrainSimulation
import TestSupport
import Testing

@Suite("Pictures and tables of storms", .computing)
struct DrawingTests {
    static func reports() async throws -> [Storm.Report] {
        var reports: [Storm.Report] = []
        for (name, make) in [("once", Policies.once), ("<hasty & \"bold\">", Policies.hasty)] {
            var report = try await CollapseTests.storm(clients: 10).run(make)
            report.name = name
            reports.append(report)
        }
        return reports
    }

    @Test("the picture is one element of well-formed XML that names the policies and marks the trigger")
    func picture() async throws {
        let svg = Storm.Picture(title: "A & B", caption: "two", try await Self.reports()).svg
        #expect(svg.hasPrefix("<svg ") && svg.hasSuffix("</svg>\n"))
        #expect(svg.contains("A &amp; B") && svg.contains("&lt;hasty &amp; &quot;bold&quot;&gt;"))
        #expect(svg.split(separator: "class=\"trigger\"").count == 7)
        #expect(!svg.contains("nan") && !svg.contains("inf"))
        #expect(svg.contains("never back"))
    }

    @Test("the page loads nothing and has a row for each policy")
    func page() async throws {
        let html = Storm.Picture(title: "Storm", try await Self.reports()).html
        #expect(html.hasPrefix("<!DOCTYPE html>"))
        #expect(!html.contains("src=") && !html.contains("href="))
        #expect(html.split(separator: "<tr>").count == 4)
    }

    @Test("the table has the same columns in each row, in text and in Markdown")
    func table() async throws {
        let table = Storm.Table(try await Self.reports())
        #expect(table.rows.count == 2)
        #expect(table.rows.allSatisfy { $0.count == table.head.count })
        #expect(table.text.split(separator: "\n").count == 3)
        #expect(table.markdown.split(separator: "\n").count == 4)
        #expect(table.rows[1].contains("never"))
    }
}
