internal import RefrainCore

extension Storm.Picture {
    /// The picture and its table as one self-contained HTML page, which loads nothing.
    public var html: String {
        let table = Storm.Table(reports)
        func row(_ cells: [String], _ tag: String) -> String {
            "<tr>" + cells.map { "<\(tag)>\(Markup.escaped($0))</\(tag)>" }.joined() + "</tr>\n"
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(Markup.escaped(title))</title>
            <style>
            body { font: 15px system-ui, sans-serif; margin: 2em auto; max-width: 1400px; color: #1f2328 }
            table { border-collapse: collapse; margin: 1.5em 0 } th, td { padding: .3em .8em; text-align: left }
            th { border-bottom: 2px solid #818b98 } td { border-bottom: 1px solid #d1d9e0 }
            svg { max-width: 100%; height: auto }
            @media (prefers-color-scheme: dark) { body { background: #0d1117; color: #f0f6fc } }
            </style>
            </head>
            <body>
            \(svg)<table>
            \(row(table.head, "th"))\(table.rows.map { row($0, "td") }.joined())</table>
            </body>
            </html>

            """
    }
}
