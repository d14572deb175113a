internal import Refrain

/// Dates as reports and messages have them (RFC 3339), in UTC.
enum DateText {
    /// The date with milliseconds: `2026-11-22T10:34:18.123Z`.
    static func iso8601(_ instant: WallClock.Instant) -> String {
        let milliseconds = Int64((instant.sinceEpoch.inSeconds * 1000).rounded(.down))
        let second = milliseconds >= 0 ? milliseconds / 1000 : (milliseconds - 999) / 1000
        let time = CivilTime(secondsSinceEpoch: second)
        let date = "\(padded(time.year, 4))-\(padded(time.month))-\(padded(time.day))"
        let clock = "\(padded(time.hour)):\(padded(time.minute)):\(padded(time.second))"
        return "\(date)T\(clock).\(padded(Int(milliseconds - second * 1000), 3))Z"
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
