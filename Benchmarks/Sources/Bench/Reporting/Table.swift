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
