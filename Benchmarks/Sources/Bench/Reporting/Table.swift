// SPDX-License-Identifier: Apache-2.0
/// Rows and columns: as plain text for a terminal, as Markdown for the documentation.
struct Table {
    let title: String
    let header: [String]
    let rows: [[String]]

    /// Columns that line up; the first begins at the left, as does the second where `leading` is 2.
    func text(leading: Int = 1) -> String {
        let widths = header.indices.map { column in
            let width = ([header] + rows).map { $0[column].count }.max() ?? 0
            return column < leading ? -width : width
        }
        return ([title] + ([header] + rows).map { Text.row($0, widths) }).joined(separator: "\n")
    }

    /// A table with its title in bold above it.
    func markdown(leading: Int = 1) -> String {
        let line = header.indices.map { $0 < leading ? "---" : "---:" }
        let cells = [header, line] + rows
        return "**\(title)**\n\n" + cells.map { "| " + $0.joined(separator: " | ") + " |" }.joined(separator: "\n")
    }
}

/// Numbers and rows as text; FoundationEssentials has no format strings.
enum Text {
    /// A number with so many digits after the point; a dash where there is none.
    static func number(_ value: Double?, _ digits: Int) -> String {
        guard let value, value.isFinite else { return "–" }
        var scale = 1.0
        for _ in 0..<digits { scale *= 10 }
        let scaled = (abs(value) * scale).rounded()
        guard scaled < 1e15 else { return "\(value)" }
        let whole = Int(scaled)
        let sign = value < 0 && whole > 0 ? "-" : ""
        guard digits > 0 else { return sign + String(whole) }
        let text = String(whole)
        let padded = String(repeating: "0", count: max(0, digits + 1 - text.count)) + text
        return sign + padded.dropLast(digits) + "." + padded.suffix(digits)
    }

    /// A whole number with commas.
    static func grouped(_ value: Double) -> String {
        var text = ""
        for (index, digit) in number(value, 0).reversed().enumerated() {
            if index > 0, index % 3 == 0, digit != "-" { text.append(",") }
            text.append(digit)
        }
        return String(text.reversed())
    }

    /// Columns of these widths, negative for those that begin at the left.
    static func row(_ cells: [String], _ widths: [Int]) -> String {
        zip(cells, widths).map { cell, width in
            let space = String(repeating: " ", count: max(0, abs(width) - cell.count))
            return width < 0 ? cell + space : space + cell
        }.joined(separator: " ")
    }
}
