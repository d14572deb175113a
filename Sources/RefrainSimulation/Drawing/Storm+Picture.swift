internal import RefrainCore

extension Storm {
    /// Reports side by side: a column for each, with its sends and good calls, the requests in flight, and the latency.
    ///
    /// The picture marks the time of the trigger, and is the same for the same reports.
    public struct Picture: Sendable {
        /// The title.
        public let title: String
        /// The text below the title.
        public let caption: String
        /// The reports, of storms of the same duration.
        public let reports: [Report]

        /// Describes a picture.
        public init(title: String, caption: String = "", _ reports: [Report]) {
            self.title = title
            self.caption = caption
            self.reports = reports
        }

        /// The picture as an SVG document, which browsers show on light and on dark.
        public var svg: String {
            let column = columnWidth
            let width = Self.left + Double(max(reports.count, 1)) * column
            let height = Self.top + 3 * Self.row + 44
            var lines = [
                "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 \(Int(width)) \(Int(height))\" "
                    + "width=\"\(Int(width))\" height=\"\(Int(height))\" role=\"img\" aria-labelledby=\"title summary\">",
                "<title id=\"title\">\(Markup.escaped(title))</title>",
                "<desc id=\"summary\">\(Markup.escaped(caption))</desc>",
                "<style>\n\(Self.style)\n</style>",
                "<rect class=\"page\" x=\"0.5\" y=\"0.5\" width=\"\(Int(width) - 1)\" height=\"\(Int(height) - 1)\" rx=\"8\"/>",
                "<text class=\"head\" x=\"20\" y=\"30\">\(Markup.escaped(title))</text>",
                "<text class=\"dim\" x=\"20\" y=\"50\">\(Markup.escaped(caption))</text>",
            ]
            lines += legend(width: width)
            let tops = axisTops
            for (index, report) in reports.enumerated() {
                let x = Self.left + Double(index) * column
                lines += self.column(report, x: x, width: column - Self.gap, tops)
            }
            return (lines + ["</svg>"]).joined(separator: "\n") + "\n"
        }

        private static let left = 56.0
        private static let top = 128.0
        private static let row = 140.0
        private static let gap = 56.0

        private var columnWidth: Double { reports.count <= 2 ? 420 : reports.count == 3 ? 330 : 280 }

        private var axisTops: (rates: Double, inFlight: Double, latency: Double) {
            let series = reports.map(\.series)
            return (
                Chart.top(over: series.flatMap { rates($0.sent, $0) + rates($0.offered, $0) }),
                Chart.top(over: series.flatMap { $0.inFlight.map(Double.init) }),
                Chart.top(over: series.flatMap(\.latency))
            )
        }

        /// Counts of an interval as numbers per second; the last one is cut by the storm's end, and left out.
        private func rates(_ counts: [Int], _ series: Series) -> [Double] {
            counts.dropLast().map { Double($0) / series.interval.inSeconds }
        }

        private func legend(width: Double) -> [String] {
            let entries = [("offered", "offered"), ("sent", "sent"), ("good", "good"), ("other", "in flight, latency")]
            var x = 20.0
            return entries.flatMap { style, name -> [String] in
                defer { x += 48 + Double(name.count) * 7 }
                return [
                    "<path class=\"\(style)\" d=\"M\(Int(x)) 70h18\"/>",
                    "<text class=\"dim\" x=\"\(Int(x) + 24)\" y=\"74\">\(name)</text>",
                ]
            }
        }

        private func column(
            _ report: Report,
            x: Double,
            width: Double,
            _ tops: (rates: Double, inFlight: Double, latency: Double)
        ) -> [String] {
            let series = report.series
            let duration = report.duration.inSeconds
            let trigger = report.triggerStart.map { start in
                start.inSeconds...max(start.inSeconds, min(report.triggerEnd?.inSeconds ?? 0, duration))
            }
            func chart(_ title: String, _ top: Double, _ curves: [Chart.Curve]) -> Chart {
                Chart(
                    title: title,
                    curves: curves,
                    top: top,
                    interval: series.interval.inSeconds,
                    duration: duration,
                    trigger: trigger
                )
            }
            let charts = [
                chart(
                    "per second",
                    tops.rates,
                    [
                        Chart.Curve(name: "sent", style: "sent", values: rates(series.sent, series)),
                        Chart.Curve(name: "offered", style: "offered", values: rates(series.offered, series)),
                        Chart.Curve(name: "good", style: "good", values: rates(series.good, series)),
                    ]
                ),
                chart(
                    "requests in flight",
                    tops.inFlight,
                    [
                        Chart.Curve(
                            name: "in flight",
                            style: "other",
                            values: series.inFlight.dropLast().map(Double.init)
                        )
                    ]
                ),
                chart(
                    "seconds for each call",
                    tops.latency,
                    [Chart.Curve(name: "latency", style: "other", values: Array(series.latency.dropLast()))]
                ),
            ]
            let recovery = report.recovery.map { "back after \(Decimal.short($0.inSeconds)) s" }
            let outcome = report.triggerEnd == nil ? "" : ", \(recovery ?? "never back")"
            let summary = "\(Decimal.text(report.amplification)) sends a call\(outcome)"
            var lines = [
                "<text class=\"head\" x=\"\(Int(x))\" y=\"\(Int(Self.top) - 30)\">\(Markup.escaped(report.name))</text>",
                "<text class=\"dim\" x=\"\(Int(x + width))\" y=\"\(Int(Self.top) - 30)\" text-anchor=\"end\">\(summary)</text>",
            ]
            for (index, chart) in charts.enumerated() {
                lines += chart.lines(x: x, y: Self.top + Double(index) * Self.row, width: width)
            }
            let bottom = Self.top + 2 * Self.row + Chart.height
            for share in [0, 0.5, 1] {
                let place = Decimal.text(x + share * width, places: 1)
                let label = "\(Decimal.short(share * duration)) s"
                lines.append("<text class=\"tick\" x=\"\(place)\" y=\"\(Int(bottom) + 18)\">\(label)</text>")
            }
            return lines
        }

        static let style = """
            text { font: 13px ui-monospace, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #1f2328 }
            .head { font-weight: bold } .label, .dim, .tick { font-size: 11px; fill: #59636e }
            .tick { text-anchor: middle } .end { text-anchor: end }
            .page { fill: #ffffff; stroke: #d1d9e0 } .grid { stroke: #d1d9e0; stroke-width: 0.5 }
            .trigger { fill: #f2a60c; fill-opacity: 0.25 }
            .offered, .sent, .good, .other { fill: none; stroke-width: 1.5; stroke-linejoin: round }
            .offered { stroke: #818b98; stroke-dasharray: 3 2 } .sent { stroke: #cf222e } .good { stroke: #1a7f37 }
            .other { stroke: #0969da }
            @media (prefers-color-scheme: dark) {
            text { fill: #f0f6fc } .label, .dim, .tick { fill: #9198a1 } .page { fill: #0d1117; stroke: #3d444d }
            .grid { stroke: #2a313c } .offered { stroke: #9198a1 } .sent { stroke: #f85149 } .good { stroke: #3fb950 }
            .other { stroke: #4493f8 }
            }
            """
    }
}

/// Text as XML takes it.
enum Markup {
    /// Without markup, and without the characters that XML 1.0 has no way to write.
    static func escaped(_ text: String) -> String {
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
}

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
