/// Formats HTTP dates (RFC 9110 §5.6.7) from seconds since 1970.
enum HTTPDateText {
    private struct Parts {
        var year: Int
        var month: Int
        var day: Int
        var weekday: Int
        var time: String

        init(_ seconds: Double) {
            // The years 1 to 9999; days by the civil calendar (Hinnant, "chrono-compatible low-level date algorithms").
            let clamped = Int(min(max(seconds.isFinite ? seconds : 0, -62_135_596_800), 253_402_300_799).rounded(.down))
            let days = (clamped >= 0 ? clamped : clamped - 86_399) / 86_400
            let rest = clamped - days * 86_400
            let shifted = days + 719_468
            let era = (shifted >= 0 ? shifted : shifted - 146_096) / 146_097
            let dayOfEra = shifted - era * 146_097
            let yearOfEra = (dayOfEra - dayOfEra / 1460 + dayOfEra / 36_524 - dayOfEra / 146_096) / 365
            let dayOfYear = dayOfEra - (365 * yearOfEra + yearOfEra / 4 - yearOfEra / 100)
            let shiftedMonth = (5 * dayOfYear + 2) / 153
            day = dayOfYear - (153 * shiftedMonth + 2) / 5 + 1
            month = shiftedMonth < 10 ? shiftedMonth + 3 : shiftedMonth - 9
            year = yearOfEra + era * 400 + (month <= 2 ? 1 : 0)
            weekday = ((days + 4) % 7 + 7) % 7
            time = [rest / 3600, rest / 60 % 60, rest % 60].map { padded($0, 2) }.joined(separator: ":")
        }
    }

    private static let days = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"]
    private static let months = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    /// IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func imf(_ seconds: Double) -> String {
        let parts = Parts(seconds)
        return "\(days[parts.weekday].prefix(3)), \(padded(parts.day, 2)) \(months[parts.month - 1]) "
            + "\(padded(parts.year, 4)) \(parts.time) GMT"
    }

    /// The RFC 850 format: `Sunday, 06-Nov-94 08:49:37 GMT`.
    static func rfc850(_ seconds: Double) -> String {
        let parts = Parts(seconds)
        return "\(days[parts.weekday]), \(padded(parts.day, 2))-\(months[parts.month - 1])-"
            + "\(padded(parts.year % 100, 2)) \(parts.time) GMT"
    }

    /// The asctime format: `Sun Nov  6 08:49:37 1994`.
    static func asctime(_ seconds: Double) -> String {
        let parts = Parts(seconds)
        return "\(days[parts.weekday].prefix(3)) \(months[parts.month - 1]) \(padded(parts.day, 2, with: " ")) "
            + "\(parts.time) \(padded(parts.year, 4))"
    }

    /// Replaces `now+5`, `date-3`, `date850+5` and `asctime+5` with the date that many seconds from `now`.
    static func expanded(_ text: String, now: Double) -> String {
        for (word, format) in [("now", imf), ("date850", rfc850), ("date", imf), ("asctime", asctime)]
        where text.hasPrefix(word) {
            let offset = text.dropFirst(word.count)
            if offset.isEmpty { return format(now) }
            guard offset.first == "+" || offset.first == "-", let seconds = Double(offset) else { continue }
            return format(now + seconds)
        }
        return text
    }

    private static func padded(_ number: Int, _ width: Int, with filler: String = "0") -> String {
        let text = String(number)
        return String(repeating: filler, count: max(0, width - text.count)) + text
    }
}
