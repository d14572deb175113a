// SPDX-License-Identifier: Apache-2.0
internal import Refrain
internal import RefrainSimulation

/// The attempts of one request as a picture that a browser shows, on light and on dark.
///
/// One row per attempt: outcome and reason at the left, its time on a common scale at the right, with the part in which
/// it was held back in grey, and the delay after it as a dashed line.
struct TimelineSVG {
    /// The document.
    let text: String

    /// Draws a request.
    ///
    /// - Parameters:
    ///   - title: the heading.
    ///   - summary: the outcome.
    ///   - attempts: the record of the request.
    ///   - total: the time of the whole request.
    init(title: String, summary: String, _ attempts: [AttemptRecord], total: Duration) {
        let end = attempts.last.map { $0.start + $0.duration } ?? .zero
        let axis = Axis(seconds: max(total, end).inSeconds)
        let bottom = Self.top + Self.rowHeight * attempts.count
        let height = bottom + 40
        var lines = [
            SVGPage.text("head", x: 20, y: 30, Self.cut(title, limit: 90)),
            SVGPage.text("dim", x: 20, y: 50, Self.cut(summary, limit: 100)),
        ]
        for tick in axis.ticks {
            let x = Decimals.text(axis.x(tick), places: 1)
            lines.append("<path class=\"grid\" d=\"M\(x) \(Self.top - 4)V\(bottom)\"/>")
            let label = tick == 0 ? "0" : DurationText.short(.seconds(tick))
            lines.append("<text class=\"tick\" x=\"\(x)\" y=\"\(bottom + 18)\">\(label)</text>")
        }
        for (row, record) in attempts.enumerated() {
            lines += Self.row(record, at: Self.top + Self.rowHeight * row, axis)
        }
        text = SVGPage.document(
            width: Double(Self.width),
            height: Double(height),
            title: title,
            summary: summary,
            style: Self.style,
            lines
        )
    }

    /// Draws the outcome of a URL.
    init(_ outcome: FetchOutcome) {
        let end = outcome.isSuccess ? outcome.status.map { "\($0)" } ?? "" : outcome.error?.code.rawValue
        let count = outcome.attempts.count
        self.init(
            title: "\(outcome.method) \(SanitizedURL.shown(outcome.url))",
            summary: "\(end ?? outcome.status.map { "\($0)" } ?? "no outcome") after \(count) "
                + "\(count == 1 ? "attempt" : "attempts") in \(DurationText.short(outcome.elapsed))",
            outcome.attempts,
            total: outcome.elapsed
        )
    }

    private static let width = 760
    private static let top = 72
    private static let rowHeight = 40

    private static func row(_ record: AttemptRecord, at y: Int, _ axis: Axis) -> [String] {
        let outcome = SVGPage.escaped(record.status.map { "\($0)" } ?? record.error?.rawValue ?? "no outcome")
        let took = DurationText.short(record.duration)
        let again = record.reason == .redirected ? "elsewhere" : "again after \(DurationText.short(record.delay))"
        var why = record.decision == .retry ? "\(again): \(record.reason.rawValue)" : record.reason.rawValue
        if let pacing = record.pacing { why += "; \(PacingText.words(pacing))" }
        let start = record.start.inSeconds
        let end = start + record.duration.inSeconds
        // Keeps an attempt of a millisecond visible on a scale of seconds.
        let (left, right) = (axis.x(start), max(axis.x(end), axis.x(start) + 4))
        let (bar, length) = (Decimals.text(left, places: 1), Decimals.text(right - left, places: 1))
        var lines = [
            "<g><title>\(record.number): \(outcome) in \(took), \(SVGPage.escaped(why))</title>",
            "<text class=\"dim\" x=\"20\" y=\"\(y + 15)\">\(record.number)</text>",
            "<text x=\"48\" y=\"\(y + 15)\"><tspan class=\"head\">\(outcome)</tspan> in \(took)</text>",
            "<text class=\"dim\" x=\"48\" y=\"\(y + 30)\">\(SVGPage.escaped(why))</text>",
            "<rect class=\"\(kind(record))\" x=\"\(bar)\" y=\"\(y + 6)\" width=\"\(length)\" height=\"20\" rx=\"2\"/>",
        ]
        if let pacing = record.pacing {
            let held = Decimals.text(min(axis.x(start + pacing.total.inSeconds), right) - left, places: 1)
            lines.append("<rect class=\"held\" x=\"\(bar)\" y=\"\(y + 6)\" width=\"\(held)\" height=\"20\" rx=\"2\"/>")
        }
        let next = axis.x(end + record.delay.inSeconds)
        if record.decision == .retry, next > right {
            let from = Decimals.text(right, places: 1)
            lines.append("<path class=\"wait\" d=\"M\(from) \(y + 16)H\(Decimals.text(next, places: 1))\"/>")
        }
        return lines + ["</g>"]
    }

    private static func kind(_ record: AttemptRecord) -> String {
        switch (record.decision, record.reason) {
        case (.retry, .redirected): "passed"
        case (.retry, _): "again"
        case (_, .succeeded): "good"
        default: "bad"
        }
    }

    private static func cut(_ text: String, limit: Int) -> String {
        text.count <= limit ? text : text.prefix(limit) + "…"
    }

    private static let style = """
        .good { fill: #1a7f37 } .bad { fill: #cf222e } .again { fill: #bf5700 } .passed { fill: #0969da }
        .held { fill: #d1d9e0 }
        .wait { stroke: #818b98; stroke-width: 3; stroke-dasharray: 2 4 }
        @media (prefers-color-scheme: dark) {
        .good { fill: #3fb950 } .bad { fill: #f85149 } .again { fill: #f0883e } .passed { fill: #4493f8 }
        .held { fill: #3d444d }
        .wait { stroke: #9198a1 }
        }
        """
}

/// The scale of time of a picture.
private struct Axis {
    private static let left = 300.0
    private static let length = 430.0
    private let seconds: Double
    /// The marks, in seconds: at most seven, at round numbers.
    let ticks: [Double]

    init(seconds: Double) {
        self.seconds = seconds
        guard seconds > 0, seconds.isFinite else {
            ticks = [0]
            return
        }
        var step = 1e-9
        var round = 0
        while seconds / step > 6 {
            step *= round % 3 == 1 ? 2.5 : 2
            round += 1
        }
        ticks = (0...6).map { Double($0) * step }.filter { $0 <= seconds }
    }

    /// The x coordinate of a time, clamped to the picture.
    func x(_ time: Double) -> Double {
        guard seconds > 0, time.isFinite else { return Self.left }
        return Self.left + min(max(time / seconds, 0), 1) * Self.length
    }
}
