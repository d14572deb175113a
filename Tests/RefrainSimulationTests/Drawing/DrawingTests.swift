// SPDX-License-Identifier: Apache-2.0
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
        // One picture for each report, so that a narrow window shows them below each other.
        #expect(html.split(separator: "<figure>").count == 3 && html.split(separator: "<style>").count == 2)
    }

    @Test("a name and the summary of its storm stand on lines of their own, however long they are")
    func headings() async throws {
        var reports = try await Self.reports()
        reports[0].name = String(repeating: "long ", count: 40)
        let svg = Storm.Picture(title: "Storm", caption: String(repeating: "words ", count: 60), reports).svg
        let texts = svg.matches(of: /<text class="(head|dim)" x="([0-9.]+)" y="([0-9.]+)">([^<]*)</).map { match in
            (x: String(match.2), y: String(match.3), text: String(match.4))
        }
        #expect(Set(texts.map { "\($0.x) \($0.y)" }).count == texts.count)
        let width = try #require(svg.firstMatch(of: /width="([0-9]+)"/).flatMap { Double(String($0.1)) })
        #expect(texts.allSatisfy { (Double($0.x) ?? 0) + Double($0.text.count) * 6.7 < width }, "\(texts)")
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
