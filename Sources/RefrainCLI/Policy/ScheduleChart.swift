// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// A schedule drawn: for each retry the shortest and the longest wait, on one scale.
struct ScheduleChart {
    let text: String

    private static let width = 40
    private static let maximumRows = 60

    /// - Parameter window: how long attempts may fail; nil: only the schedule limits them.
    init(_ schedule: Backoff, within window: Duration? = nil) {
        let ranges = Self.ranges(of: schedule, within: window)
        var lines: [String] = []
        if ranges.isEmpty { lines.append("One attempt, and no retry.") }
        let longest = ranges.map(\.upperBound.inSeconds).max() ?? 0
        var (low, high) = (0.0, 0.0)
        if !ranges.isEmpty { lines.append("   attempt  wait                    in all, at most") }
        for (index, range) in ranges.enumerated() {
            low += range.lowerBound.inSeconds
            high += range.upperBound.inSeconds
            let wait = Self.words(range)
            let total = DurationText.short(.seconds(min(high, 0x1p40)))
            lines.append(
                Self.padded("\(index + 2)", 10, right: true) + "  " + Self.padded(wait, 22) + "  "
                    + Self.padded(total, 10) + "  " + Self.bar(range, longest)
            )
        }
        if ranges.count == Self.maximumRows { lines.append("…") }
        let shares = ranges.isEmpty ? "" : "█ is waited for certain, ░ is up to chance.\n"
        text = lines.joined(separator: "\n") + "\n" + shares
    }

    private static func ranges(of schedule: Backoff, within window: Duration?) -> [ClosedRange<Duration>] {
        var ranges: [ClosedRange<Duration>] = []
        var previous = Duration.zero
        var waited = Duration.zero
        while ranges.count < maximumRows {
            let attempt = Attempt(number: ranges.count + 1, previousDelay: previous)
            guard let range = schedule.delayRange(after: attempt) else { break }
            if let window, waited >= window { break }
            waited += range.lowerBound
            ranges.append(range)
            previous = range.upperBound
        }
        return ranges
    }

    private static func words(_ range: ClosedRange<Duration>) -> String {
        let high = DurationText.short(range.upperBound)
        guard range.lowerBound < range.upperBound else { return high }
        return (range.lowerBound == .zero ? "0" : DurationText.short(range.lowerBound)) + " … " + high
    }

    private static func bar(_ range: ClosedRange<Duration>, _ longest: Double) -> String {
        guard longest > 0 else { return "" }
        func cells(_ duration: Duration) -> Int {
            Int((duration.inSeconds / longest * Double(width)).rounded(.up))
        }
        let (low, high) = (min(cells(range.lowerBound), width), min(cells(range.upperBound), width))
        return String(repeating: "█", count: low) + String(repeating: "░", count: max(0, high - low))
    }

    private static func padded(_ text: String, _ width: Int, right: Bool = false) -> String {
        let space = String(repeating: " ", count: max(0, width - text.count))
        return right ? space + text : text + space
    }
}
