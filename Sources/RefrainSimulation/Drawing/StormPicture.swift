// SPDX-License-Identifier: Apache-2.0
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
            let width = Self.left + Double(max(reports.count, 1)) * columnWidth - Self.gap + Self.margin
            let caption = SVGPage.lines(caption, in: width - 2 * Self.margin)
            let top = 50 + 16 * Double(caption.count) + (caption.isEmpty ? 0 : 4)
            var lines = [SVGPage.text("head", x: Self.margin, y: 30, SVGPage.lines(title, in: width * 0.8).first ?? "")]
            for (index, text) in caption.enumerated() {
                lines.append(SVGPage.text("dim", x: Self.margin, y: 50 + 16 * Double(index), text))
            }
            lines += Self.legend(y: top)
            for (index, report) in reports.enumerated() {
                let x = Self.left + Double(index) * columnWidth
                lines += column(report, x: x, y: top + 34, width: columnWidth - Self.gap, axisTops)
            }
            return SVGPage.document(
                width: width,
                height: top + 34 + Self.columnHeight,
                title: title,
                summary: self.caption,
                style: Self.style,
                lines
            )
        }

        private static let left = 56.0
        private static let margin = 20.0
        private static let row = 136.0
        private static let gap = 56.0
        /// Name and summary above the first diagram.
        private static let heading = 44.0
        private static let columnHeight = heading + 2 * row + Chart.height + 34

        private var columnWidth: Double { reports.count <= 2 ? 420 : reports.count == 3 ? 330 : 300 }

        /// One report as a picture of its own, for a page whose width is not known.
        fileprivate func single(_ report: Report) -> String {
            SVGPage.document(
                width: 400,
                height: Self.columnHeight + Self.margin,
                title: report.name,
                summary: Self.summary(report),
                style: "",
                column(report, x: 48, y: Self.margin, width: 326, axisTops)
            )
        }

        private static func summary(_ report: Report) -> String {
            let recovery = report.recovery.map { "back after \(Decimal.short($0.inSeconds)) s" }
            let outcome = report.triggerEnd == nil ? "" : ", \(recovery ?? "never back")"
            return "\(Decimal.text(report.amplification)) sends a call\(outcome)"
        }

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

        fileprivate static func legend(y: Double) -> [String] {
            let entries = [("offered", "offered"), ("sent", "sent"), ("good", "good"), ("other", "in flight, latency")]
            var x = margin
            return entries.flatMap { style, name -> [String] in
                defer { x += 44 + Double(name.count) * 7 }
                return [
                    "<path class=\"\(style)\" d=\"M\(Int(x)) \(Int(y) - 4)h18\"/>",
                    SVGPage.text("dim", x: x + 24, y: y, name),
                ]
            }
        }

        private func column(
            _ report: Report,
            x: Double,
            y: Double,
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
            var lines = [
                SVGPage.text("head", x: x, y: y, SVGPage.lines(report.name, in: width * 0.8).first ?? ""),
                SVGPage.text("dim", x: x, y: y + 16, Self.summary(report)),
            ]
            for (index, chart) in charts.enumerated() {
                lines += chart.lines(x: x, y: y + Self.heading + Double(index) * Self.row, width: width)
            }
            let bottom = y + Self.heading + 2 * Self.row + Chart.height
            for share in [0, 0.5, 1] {
                let place = Decimal.text(x + share * width, places: 1)
                let label = "\(Decimal.short(share * duration)) s"
                lines.append("<text class=\"tick\" x=\"\(place)\" y=\"\(Int(bottom) + 18)\">\(label)</text>")
            }
            return lines
        }

        /// The curves; the rest is that of every picture.
        fileprivate static let style = """
            .trigger { fill: #f2a60c; fill-opacity: 0.25 }
            .offered, .sent, .good, .other { fill: none; stroke-width: 1.5; stroke-linejoin: round }
            .offered { stroke: #818b98; stroke-dasharray: 3 2 } .sent { stroke: #cf222e } .good { stroke: #1a7f37 }
            .other { stroke: #0969da }
            @media (prefers-color-scheme: dark) {
            .offered { stroke: #9198a1 } .sent { stroke: #f85149 } .good { stroke: #3fb950 } .other { stroke: #4493f8 }
            }
            """
    }
}

extension Storm.Picture {
    /// The picture and its table as one self-contained HTML page, which loads nothing.
    public var html: String {
        let table = Storm.Table(reports)
        func row(_ cells: [String], _ tag: String) -> String {
            "<tr>" + cells.map { "<\(tag)>\(SVGPage.escaped($0))</\(tag)>" }.joined() + "</tr>\n"
        }
        return """
            <!DOCTYPE html>
            <html lang="en">
            <head>
            <meta charset="utf-8">
            <meta name="viewport" content="width=device-width">
            <title>\(SVGPage.escaped(title))</title>
            <style>
            \(SVGPage.style)
            \(Self.style)
            body { font: 15px system-ui, sans-serif; margin: 1.5em auto; padding: 0 16px; max-width: 1400px }
            body { color: #1f2328 } h1 { font-size: 1.3em; margin: 0 0 .3em } p { margin: .3em 0; color: #59636e }
            .storms { display: flex; flex-wrap: wrap; gap: 12px; margin: .6em 0 1em } figure { margin: 0 }
            .legend { max-width: 100% } figure { flex: 1 1 320px; max-width: 520px }
            figure svg { width: 100%; height: auto; display: block }
            .table { overflow-x: auto } table { border-collapse: collapse }
            th, td { padding: .3em .8em; text-align: left; white-space: nowrap }
            th { border-bottom: 2px solid #818b98 } td { border-bottom: 1px solid #d1d9e0 }
            @media (max-width: 600px) { th, td { padding: .3em .4em; font-size: 13px; white-space: normal } }
            @media (prefers-color-scheme: dark) {
            body { background: #0d1117; color: #f0f6fc } p { color: #9198a1 } td { border-color: #2a313c }
            }
            </style>
            </head>
            <body>
            <h1>\(SVGPage.escaped(title))</h1>
            \(caption.isEmpty ? "" : "<p>\(SVGPage.escaped(caption))</p>\n")<svg class="legend" width="392" height="20" viewBox="20 0 392 20">
            \(Self.legend(y: 14).joined(separator: "\n"))
            </svg>
            <div class="storms">
            \(reports.map { "<figure>\n\(single($0))</figure>\n" }.joined())</div>
            <div class="table"><table>
            \(row(table.head, "th"))\(table.rows.map { row($0, "td") }.joined())</table></div>
            </body>
            </html>

            """
    }
}

/// One diagram of a picture: curves over the time of a storm.
struct Chart {
    struct Curve {
        let name: String
        let style: String
        let values: [Double]
    }

    let title: String
    let curves: [Curve]
    /// The highest value of the axis, the same for all diagrams of a row.
    let top: Double
    let interval: Double
    let duration: Double
    let trigger: ClosedRange<Double>?

    static let height = 96.0

    /// A round number that is not lower than the highest value.
    static func top(over values: [Double]) -> Double {
        let highest = max(values.max() ?? 0, 1e-9)
        var unit = 1e-6
        while unit * 10 < highest { unit *= 10 }
        let factor = [1, 1.5, 2, 3, 4, 5, 6, 8, 10].first { $0 * unit >= highest } ?? 10
        return factor * unit
    }

    /// Draws the diagram with its upper left corner at a point.
    func lines(x left: Double, y: Double, width: Double) -> [String] {
        let bottom = y + Self.height
        func position(at time: Double) -> Double { left + min(max(time / duration, 0), 1) * width }
        func text(_ value: Double) -> String { Decimal.text(value, places: 1) }
        var lines: [String] = []
        if let trigger {
            let start = position(at: trigger.lowerBound)
            let length = max(position(at: trigger.upperBound) - start, 1.5)
            lines.append(
                "<rect class=\"trigger\" x=\"\(text(start))\" y=\"\(text(y))\" width=\"\(text(length))\" "
                    + "height=\"\(text(Self.height))\"/>"
            )
        }
        for share in [0.0, 0.5, 1.0] {
            let height = bottom - share * Self.height
            lines.append("<path class=\"grid\" d=\"M\(text(left)) \(text(height))h\(text(width))\"/>")
            lines.append(
                "<text class=\"tick end\" x=\"\(text(left - 6))\" y=\"\(text(height + 4))\">"
                    + "\(Decimal.short(share * top))</text>"
            )
        }
        lines.append("<text class=\"label\" x=\"\(text(left))\" y=\"\(text(y - 7))\">\(title)</text>")
        for curve in curves {
            var path = ""
            for (index, value) in curve.values.enumerated() {
                let x = position(at: (Double(index) + 0.5) * interval)
                let height = bottom - min(max(value / top, 0), 1) * Self.height
                path += "\(path.isEmpty ? "M" : "L")\(text(x)) \(text(height))"
            }
            lines.append("<path class=\"\(curve.style)\" d=\"\(path)\"/>")
        }
        return lines
    }
}

/// Numbers as text, the same on every machine.
enum Decimal {
    /// A number with a number of decimals.
    static func text(_ value: Double, places: Int = 2) -> String {
        guard value.isFinite, value.magnitude < 1e15 else { return value.isFinite ? "\(value)" : "–" }
        var scale = 1.0
        for _ in 0..<places { scale *= 10 }
        let scaled = Int64((value.magnitude * scale).rounded())
        let (whole, part) = scaled.quotientAndRemainder(dividingBy: Int64(scale))
        let sign = value < 0 && scaled > 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(whole)" }
        let digits = String(part)
        return "\(sign)\(whole).\(String(repeating: "0", count: places - digits.count))\(digits)"
    }

    /// A number without trailing zeros.
    static func short(_ value: Double) -> String {
        var text = text(value, places: 3)
        while text.hasSuffix("0") { text.removeLast() }
        if text.hasSuffix(".") { text.removeLast() }
        return text
    }

    /// A share as a percentage; a dash where there is none.
    static func percent(_ share: Double?) -> String {
        guard let share else { return "–" }
        // A share below 1 is not rounded to 100 %.
        let percent = share * 100
        return percent > 99.5 && share < 1 || percent < 0.5 && share > 0
            ? text(percent, places: 1) : text(percent, places: 0)
    }
}
