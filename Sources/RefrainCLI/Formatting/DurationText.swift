// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Durations as they are written on the command line: `250ms`, `1.5s`, `2m`, `1h`.
enum DurationText {
    /// Reads a duration of an option.
    ///
    /// - Parameter allowsZero: whether zero is a valid value.
    static func parse(_ text: String, option: String, allowsZero: Bool = false) throws(UsageError) -> Duration {
        func refuse(_ expected: String) -> UsageError { .badValue(text, of: option, expected) }
        guard !text.hasPrefix("-") else { throw refuse("is negative") }
        let (number, unit) = ASCIINumber.split(text)
        guard let value = ASCIINumber.decimal(number) else {
            throw number.utf8.count > 300
                ? refuse("is too long a time") : refuse("is not a duration; write 250ms, 1.5s, 2m or 1h")
        }
        guard !unit.isEmpty else { throw refuse("has no unit; write \(number)s or \(number)ms") }
        guard let seconds = units[String(unit)] else {
            throw refuse("has the unknown unit \(Sanitized.text(String(unit))); the units are us, ms, s, m, h and d")
        }
        let total = value * seconds
        guard total < Duration.longestDelay.inSeconds else { throw refuse("is too long a time") }
        // In whole nanoseconds, so that 7ms is 7 ms to the last bit; a century needs no such care.
        let duration = total < 3e9 ? Duration.nanoseconds(Int64((total * 1e9).rounded())) : .seconds(total)
        guard allowsZero || duration > .zero else { throw refuse("must be more than zero") }
        return duration
    }

    /// Reads a duration as curl takes it: seconds, with decimals; a unit may follow.
    static func parseSeconds(_ text: String, option: String) throws(UsageError) -> Duration {
        let isBare = ASCIINumber.decimal(text) != nil
        return try parse(isBare ? text + "s" : text, option: option, allowsZero: true)
    }

    /// A duration for people, in three digits or so.
    static func short(_ duration: Duration) -> String {
        let seconds = duration.inSeconds
        switch seconds {
        case ..<0.001: return "\(Decimals.text(seconds * 1_000_000, places: 0)) µs"
        case ..<0.01: return "\(Decimals.text(seconds * 1000, places: 1)) ms"
        case ..<0.9995: return "\(Decimals.text(seconds * 1000, places: 0)) ms"
        case ..<100: return "\(Decimals.text(seconds, places: 2)) s"
        case ..<7200: return "\(Decimals.text(seconds / 60, places: 1)) min"
        default: return "\(Decimals.text(seconds / 3600, places: 1)) h"
        }
    }

    /// The same without decimals that are zero: `8 s`, `1.5 min`.
    static func plain(_ duration: Duration) -> String {
        guard duration != .zero else { return "0" }
        let text = short(duration)
        guard let space = text.lastIndex(of: " "), text.contains(".") else { return text }
        var number = text[..<space]
        while number.last == "0" { number.removeLast() }
        if number.last == "." { number.removeLast() }
        return String(number + text[space...])
    }

    private static let units: [String: Double] = [
        "us": 0.000_001, "µs": 0.000_001, "ms": 0.001, "s": 1, "m": 60, "min": 60, "h": 3600, "d": 86_400,
    ]
}

/// Dates as people read them, in the local time zone.
enum DateText {
    /// The time of day in the local time zone, such as `14:03:01`; with the date where that is another day than today.
    static func localTime(_ instant: WallClock.Instant, now: WallClock.Instant = .now) -> String {
        let (date, today) = (parts(of: instant), parts(of: now))
        let isToday = date.tm_year == today.tm_year && date.tm_yday == today.tm_yday
        return isToday ? clock(date) : "\(day(date)) \(clock(date))"
    }

    /// The date and the time of day in the local time zone: `2026-11-26 14:03:01 CET`.
    static func local(_ instant: WallClock.Instant) -> String {
        let parts = parts(of: instant)
        let zone = parts.tm_zone.map { String(cString: $0) } ?? ""
        return "\(day(parts)) \(clock(parts)) \(zone)"
    }

    private static func day(_ date: tm) -> String {
        "\(padded(Int(date.tm_year) + 1900, 4))-\(padded(Int(date.tm_mon) + 1))-\(padded(Int(date.tm_mday)))"
    }

    private static func clock(_ date: tm) -> String {
        "\(padded(Int(date.tm_hour))):\(padded(Int(date.tm_min))):\(padded(Int(date.tm_sec)))"
    }

    private static func parts(of instant: WallClock.Instant) -> tm {
        var seconds = time_t(min(max(instant.sinceEpoch.inSeconds, -6e10), 2.5e11))
        var result = tm()
        localtime_r(&seconds, &result)
        return result
    }

    private static func padded(_ number: Int, _ width: Int = 2) -> String {
        let digits = "\(number)"
        return String(repeating: "0", count: max(0, width - digits.count)) + digits
    }
}
