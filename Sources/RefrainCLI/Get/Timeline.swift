// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The attempts of one request, drawn on one scale of time: `░` held back, `█` under way, `·` the delay after it.
struct Timeline {
    let text: String

    /// Draws a request.
    ///
    /// - Parameters:
    ///   - title: the first line.
    ///   - attempts: the record of the request.
    ///   - total: the time of the whole request.
    ///   - width: how many columns the drawing has.
    init(_ title: String, _ attempts: [AttemptRecord], total: Duration, width: Int = 36) {
        let end = attempts.last.map { $0.start + $0.duration } ?? .zero
        let scale = max(total, end).inSeconds
        var lines = [title]
        for record in attempts {
            let outcome = record.status.map { "\($0)" } ?? record.error?.rawValue ?? "no outcome"
            var words = "\(outcome) in \(DurationText.short(record.duration))"
            if let pacing = record.pacing { words += ", \(PacingText.words(pacing))" }
            if record.decision == .retry {
                words +=
                    record.reason == .redirected
                    ? ", goes on elsewhere" : ", again after \(DurationText.short(record.delay))"
            }
            if record.reason != .succeeded { words += " (\(record.reason.rawValue))" }
            let number = String(repeating: " ", count: max(0, 4 - "\(record.number)".count)) + "\(record.number)"
            lines.append("\(number) \(Self.bar(record, scale, width)) \(words)")
        }
        text = lines.joined(separator: "\n") + "\n"
    }

    private static func bar(_ record: AttemptRecord, _ scale: Double, _ width: Int) -> String {
        func column(_ time: Duration) -> Int {
            guard scale > 0 else { return 0 }
            return min(max(Int((time.inSeconds / scale * Double(width)).rounded()), 0), width)
        }
        let start = min(column(record.start), width - 1)
        let end = max(start + 1, column(record.start + record.duration))
        let sent = record.pacing.map { min(end, column(record.start + $0.total)) } ?? start
        let next = max(end, column(record.start + record.duration + record.delay))
        return "│" + String(repeating: " ", count: start) + String(repeating: "░", count: sent - start)
            + String(repeating: "█", count: end - sent)
            + String(repeating: "·", count: next - end) + String(repeating: " ", count: width - next) + "│"
    }
}
