// SPDX-License-Identifier: Apache-2.0
/// The frame of every picture that the package draws: storms and the attempts of requests.
///
/// A rounded page with its colours on light and on dark.
package enum SVGPage {
    /// A document.
    ///
    /// - Parameters:
    ///   - title: what the picture shows, for programs that read it aloud.
    ///   - summary: the same in a sentence.
    ///   - style: the rules of the picture's own classes; nil leaves out all rules, for a page that has them.
    ///   - lines: the elements.
    package static func document(
        width: Double,
        height: Double,
        title: String,
        summary: String,
        style: String,
        _ lines: [String]
    ) -> String {
        let (width, height) = (Int(width.rounded(.up)), Int(height.rounded(.up)))
        let rules = style.isEmpty ? [] : ["<style>\n\(Self.style)\n\(style)\n</style>"]
        let document =
            [
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(width) \(height)\" width=\"\(width)\" "
                    + "height=\"\(height)\" role=\"img\">",
                "<title>\(escaped(String(title.prefix(1000))))</title>",
                "<desc>\(escaped(String(summary.prefix(1000))))</desc>",
            ] + rules
            + [
                "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"\(width - 1)\" height=\"\(height - 1)\" rx=\"8\"/>"
            ] + lines + ["</svg>"]
        return document.joined(separator: "\n") + "\n"
    }

    /// An element of text.
    package static func text(_ style: String, x: Double, y: Double, _ text: String) -> String {
        "<text class=\"\(style)\" x=\"\(Decimal.short(x))\" y=\"\(Decimal.short(y))\">\(escaped(text))</text>"
    }

    /// Text for XML: without markup, and without the characters that XML 1.0 cannot contain.
    package static func escaped(_ text: String) -> String {
        var result = ""
        for scalar in text.unicodeScalars {
            switch scalar {
            case "&": result += "&amp;"
            case "<": result += "&lt;"
            case ">": result += "&gt;"
            case "\"": result += "&quot;"
            case _ where scalar.value < 0x20 || (0x7F..<0xA0).contains(scalar.value): result += "?"
            case "\u{FFFE}", "\u{FFFF}": result += "?"
            default: result.unicodeScalars.append(scalar)
            }
        }
        return result
    }

    /// A text in lines that fit into a width.
    package static func lines(_ text: String, in width: Double) -> [String] {
        let columns = max(10, Int(width / 6.7))
        var lines: [String] = []
        for word in text.split(separator: " ") {
            if let last = lines.last, last.count + 1 + word.count <= columns {
                lines[lines.count - 1] = "\(last) \(word)"
            } else {
                lines.append(word.count <= columns ? String(word) : word.prefix(columns - 1) + "…")
            }
        }
        return lines
    }

    /// The rules of text, page and grid.
    package static let style = """
        text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328 }
        .head { font-weight: bold } .label, .dim, .tick { font-size: 11px; fill: #59636e }
        .tick { text-anchor: middle } .end { text-anchor: end }
        .page { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0; stroke-width: 0.5 }
        @media (prefers-color-scheme: dark) {
        text { fill: #f0f6fc } .label, .dim, .tick { fill: #9198a1 } .page { fill: #0d1117; stroke: #3d444d }
        .grid { stroke: #2a313c }
        }
        """
}
