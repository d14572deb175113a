// SPDX-License-Identifier: Apache-2.0
/// The picture of a run: requests a second, a group of bars for each case, drawn as SVG.
struct Chart {
    let results: Results

    private static let colours = [
        "wrk": "#9aa0a6", "curl-multi": "#5f6368", "loader": "#7baaf7", "session": "#1a73e8",
        "session-decodable": "#12b5cb", "urlsession": "#e8710a",
    ]
    private static let width = 860
    private static let labelWidth = 110
    private static let valueWidth = 100
    private static let barHeight = 18

    /// The whole file.
    var svg: String {
        var shapes: [String] = []
        var y = 34
        shapes.append(text("Requests a second; longer is better", x: 16, y: 22, size: 15, isBold: true))
        for benchmark in LoadBenchmark.all {
            let bars = results.series(of: benchmark.name).compactMap { series in
                series.metrics[Metric.rate].map { (series.client, $0) }
            }
            guard let longest = bars.map(\.1.max).max(), longest > 0 else { continue }
            y += 22
            shapes.append(text(benchmark.title, x: 16, y: y, size: 13, isBold: true))
            y += 8
            for (client, rate) in bars {
                shapes += bar(client, rate, longest: longest, y: y)
                y += Self.barHeight + 4
            }
        }
        y += 8
        for line in Report(results: results).circumstances.split(separator: ";") {
            y += 14
            shapes.append(text(String(line.drop { $0 == " " }), x: 16, y: y, size: 10))
        }
        let height = y + 14
        return """
            <svg xmlns="http://www.w3.org/2000/svg" width="\(Self.width)" height="\(height)" \
            viewBox="0 0 \(Self.width) \(height)" font-family="system-ui, sans-serif">
            <rect width="100%" height="100%" fill="#ffffff"/>
            \(shapes.joined(separator: "\n"))
            </svg>

            """
    }

    /// A bar as long as the median, a thin line from the least to the greatest round, and the figure.
    private func bar(_ client: String, _ rate: Summary, longest: Double, y: Int) -> [String] {
        let room = Double(Self.width - Self.labelWidth - Self.valueWidth - 32)
        func length(_ value: Double) -> String { Text.number(value / longest * room, 1) }
        let left = Self.labelWidth
        let middle = y + Self.barHeight / 2
        let colour = Self.colours[client] ?? "#9aa0a6"
        return [
            text(client, x: left - 8, y: middle + 4, size: 12, anchor: "end"),
            "<rect x=\"\(left)\" y=\"\(y)\" width=\"\(length(rate.median))\" height=\"\(Self.barHeight)\" "
                + "fill=\"\(colour)\"/>",
            "<path d=\"M\(Text.number(Double(left) + rate.min / longest * room, 1)) \(middle)H"
                + "\(Text.number(Double(left) + rate.max / longest * room, 1))\" stroke=\"#202124\" "
                + "stroke-width=\"1.5\"/>",
            text(Text.grouped(rate.median), x: Self.width - Self.valueWidth - 8, y: middle + 4, size: 12),
        ]
    }

    private func text(
        _ content: String,
        x: Int,
        y: Int,
        size: Int,
        isBold: Bool = false,
        anchor: String = "start"
    ) -> String {
        let weight = isBold ? " font-weight=\"600\"" : ""
        return "<text x=\"\(x)\" y=\"\(y)\" font-size=\"\(size)\" text-anchor=\"\(anchor)\"\(weight) "
            + "fill=\"#202124\">\(Self.escaped(content))</text>"
    }

    private static func escaped(_ content: String) -> String {
        content.map { character in
            switch character {
            case "&": "&amp;"
            case "<": "&lt;"
            default: String(character)
            }
        }.joined()
    }
}
