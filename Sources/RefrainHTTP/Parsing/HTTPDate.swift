// SPDX-License-Identifier: Apache-2.0
public import RefrainCore

/// The dates of HTTP header fields (RFC 9110 §5.6.7).
///
/// All three forms are parsed strictly: names are case-sensitive, and each space in the grammar is one space.
/// Impossible dates (30 February, hour 24) are rejected; a second of 60 is accepted in every minute. The weekday must
/// be a valid name but need not match the date, as in curl and Go.
///
/// ```swift
/// if let text = response.headers["Last-Modified"],
///     let modified = HTTPDate.parse(text)
/// {
///     let condition = HTTPDate.format(modified)
///     request.headers["If-Modified-Since"] = condition
/// }
/// ```
public enum HTTPDate {
    /// Parses a date in any of the three forms; returns `nil` if it is invalid.
    ///
    /// - Parameters:
    ///   - value: The text; spaces and tabs around it do not count.
    ///   - now: Decides the century of two-digit years: the latest one that is not over 50 years ahead. Defaults to the
    ///     system's time.
    public static func parse(_ value: String, now: WallClock.Instant = .now) -> WallClock.Instant? {
        // The longest form has 33 bytes; the rest allows for surrounding white space.
        guard value.utf8.count <= 256 else { return nil }
        var scanner = FieldScanner(value)
        guard let name = takeName(&scanner) else { return nil }
        let civil: CivilTime?
        if scanner.take(", ") {
            civil = name == .long ? rfc850(&scanner, now: now) : fixdate(&scanner)
        } else {
            civil = name == .long ? nil : asctime(&scanner)
        }
        guard scanner.isAtEnd, let seconds = civil?.secondsSinceEpoch else { return nil }
        return WallClock.Instant(sinceEpoch: .seconds(seconds))
    }

    /// Formats an instant in the preferred form, such as `Sun, 06 Nov 1994 08:49:37 GMT`.
    ///
    /// Truncates fractions of a second, and clamps to the years 0 to 9999.
    public static func format(_ instant: WallClock.Instant) -> String { format(instant, as: .fixed) }

    /// Formats an instant in one of the forms.
    package static func format(_ instant: WallClock.Instant, as form: Form) -> String {
        let civil = CivilTime(instant)
        let (weekday, month) = (weekdays[civil.weekday], months[civil.month - 1])
        let time = "\(padded(civil.hour)):\(padded(civil.minute)):\(padded(civil.second))"
        let year = "\(padded(civil.year / 100))\(padded(civil.year % 100))"
        switch form {
        case .fixed: return "\(weekday.prefix(3)), \(padded(civil.day)) \(month) \(year) \(time) GMT"
        case .rfc850: return "\(weekday), \(padded(civil.day))-\(month)-\(year.suffix(2)) \(time) GMT"
        case .asctime:
            let day = civil.day < 10 ? " \(civil.day)" : "\(civil.day)"
            return "\(weekday.prefix(3)) \(month) \(day) \(time) \(year)"
        }
    }

    /// The forms of a date (RFC 9110 §5.6.7).
    package enum Form {
        /// IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
        case fixed
        /// The RFC 850 format: `Sunday, 06-Nov-94 08:49:37 GMT`.
        case rfc850
        /// The asctime format: `Sun Nov  6 08:49:37 1994`.
        case asctime
    }

    /// Parses the lines of a field with one date; returns `nil` if they differ.
    static func parse(fieldValues: [String], now: WallClock.Instant) -> WallClock.Instant? {
        FieldValues.single(fieldValues).flatMap { parse($0, now: now) }
    }
}

// MARK: - The three forms

extension HTTPDate {
    /// `06 Nov 1994 08:49:37 GMT`, the rest of an IMF-fixdate.
    private static func fixdate(_ scanner: inout FieldScanner) -> CivilTime? {
        guard let day = scanner.takeNumber(digits: 2), scanner.take(.space) else { return nil }
        guard let month = takeMonth(&scanner), scanner.take(.space) else { return nil }
        guard let year = scanner.takeNumber(digits: 4), scanner.take(.space) else { return nil }
        guard let time = takeTime(&scanner), scanner.take(" GMT") else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    /// `06-Nov-94 08:49:37 GMT`, the rest of an RFC 850 date.
    private static func rfc850(_ scanner: inout FieldScanner, now: WallClock.Instant) -> CivilTime? {
        guard let day = scanner.takeNumber(digits: 2), scanner.take("-") else { return nil }
        guard let month = takeMonth(&scanner), scanner.take("-") else { return nil }
        guard let year = scanner.takeNumber(digits: 2), scanner.take(.space) else { return nil }
        guard let time = takeTime(&scanner), scanner.take(" GMT") else { return nil }
        let (hour, minute, second) = time
        let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        return inCentury(civil, now: now)
    }

    /// `Nov  6 08:49:37 1994` after its space, the rest of C's asctime, which is UTC here.
    private static func asctime(_ scanner: inout FieldScanner) -> CivilTime? {
        guard scanner.take(.space), let month = takeMonth(&scanner), scanner.take(.space) else { return nil }
        guard let day = scanner.takeNumber(digits: scanner.take(.space) ? 1 : 2), scanner.take(.space) else {
            return nil
        }
        guard let time = takeTime(&scanner), scanner.take(.space) else { return nil }
        guard let year = scanner.takeNumber(digits: 4) else { return nil }
        return CivilTime(year: year, month: month, day: day, hour: time.hour, minute: time.minute, second: time.second)
    }

    /// Returns the date of a two-digit year in the latest century that is at most 50 years after `now`.
    private static func inCentury(_ civil: CivilTime, now: WallClock.Instant) -> CivilTime {
        let today = CivilTime(now)
        let latest = today.year + 50
        var result = civil
        result.year = latest - ((latest - civil.year) % 100)
        if result.year == latest, isLater(civil, inYearThan: today) { result.year -= 100 }
        return result
    }

    private static func isLater(_ left: CivilTime, inYearThan right: CivilTime) -> Bool {
        (left.month, left.day, left.hour, left.minute, left.second)
            > (right.month, right.day, right.hour, right.minute, right.second)
    }
}

// MARK: - Parts

extension HTTPDate {
    private static let weekdays: [String] = [
        "Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday",
    ]
    private static let months: [String] = [
        "Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec",
    ]

    private enum NameLength { case short, long }

    /// Takes the name of a weekday, and returns whether it is abbreviated.
    private static func takeName(_ scanner: inout FieldScanner) -> NameLength? {
        let name = String(decoding: scanner.take { $0.isLetter }, as: UTF8.self)
        if weekdays.contains(name) { return .long }
        return name.utf8.count == 3 && weekdays.contains { $0.hasPrefix(name) } ? .short : nil
    }

    private static func takeMonth(_ scanner: inout FieldScanner) -> Int? {
        let name = String(decoding: scanner.take { $0.isLetter }, as: UTF8.self)
        return months.firstIndex(of: name).map { $0 + 1 }
    }

    private static func takeTime(_ scanner: inout FieldScanner) -> (hour: Int, minute: Int, second: Int)? {
        guard let hour = scanner.takeNumber(digits: 2), scanner.take(":") else { return nil }
        guard let minute = scanner.takeNumber(digits: 2), scanner.take(":") else { return nil }
        guard let second = scanner.takeNumber(digits: 2) else { return nil }
        return (hour, minute, second)
    }

    private static func padded(_ number: Int) -> String { number < 10 ? "0\(number)" : "\(number)" }
}

/// Times in fields and bodies that are not written as one number.
///
/// What is malformed is nil; nothing traps.
enum FieldTime {
    /// Longer texts are malformed.
    private static let longest = 64

    /// A duration as Go writes it, such as `6m0s`, `1h2m3.5s` or `12ms`; `0` needs no unit, and a sign is malformed.
    static func goDuration(_ text: String) -> Duration? {
        guard text.utf8.count <= longest else { return nil }
        var scanner = FieldScanner(text)
        guard !scanner.isAtEnd else { return nil }
        var sum = Duration.zero
        while !scanner.isAtEnd {
            let digits = scanner.take { $0.isDigit || $0 == UInt8(ascii: ".") }
            guard let number = FieldDecimal(Substring(String(decoding: digits, as: UTF8.self)).utf8) else { return nil }
            if scanner.isAtEnd, sum == .zero, number.whole == 0, number.attos == 0 { return .zero }
            let unit: Double
            switch String(decoding: scanner.take { !$0.isDigit && $0 != UInt8(ascii: ".") }, as: UTF8.self) {
            case "h": unit = 3600
            case "m": unit = 60
            case "s": unit = 1
            case "ms": unit = 1e-3
            case "us", "µs", "μs": unit = 1e-6
            case "ns": unit = 1e-9
            default: return nil
            }
            sum = sum.addingSaturated(.delay(seconds: (Double(number.whole) + Double(number.attos) / 1e18) * unit))
        }
        return sum.clampedToDelay
    }

    /// A protobuf Duration in JSON: seconds with up to nine decimals and the suffix `s`, such as `57.238747106s`.
    static func protobufDuration(_ text: String) -> Duration? {
        guard text.utf8.count <= longest, text.hasSuffix("s") else { return nil }
        return FieldDecimal(text.dropLast().utf8)?.asSeconds.clampedToDelay
    }

    /// A moment by RFC 3339, with an offset and an optional fraction.
    static func timestamp(_ text: String) -> WallClock.Instant? {
        guard text.utf8.count <= longest else { return nil }
        var scanner = FieldScanner(text)
        guard let year = scanner.takeNumber(digits: 4), scanner.take("-"),
            let month = scanner.takeNumber(digits: 2), scanner.take("-"),
            let day = scanner.takeNumber(digits: 2), scanner.take("T") || scanner.take("t") || scanner.take(.space),
            let hour = scanner.takeNumber(digits: 2), scanner.take(":"),
            let minute = scanner.takeNumber(digits: 2), scanner.take(":"),
            let second = scanner.takeNumber(digits: 2)
        else { return nil }
        var fraction = Duration.zero
        if scanner.take(".") {
            let digits = String(decoding: scanner.take { $0.isDigit }, as: UTF8.self)
            guard let number = FieldDecimal("0.\(digits)"[...].utf8) else { return nil }
            fraction = number.asSeconds
        }
        guard let offset = offset(&scanner), scanner.isAtEnd else { return nil }
        let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        return civil.secondsSinceEpoch.map { WallClock.Instant(sinceEpoch: .seconds($0 - offset) + fraction) }
    }

    /// `Z`, or hours and minutes east of Greenwich; in seconds.
    private static func offset(_ scanner: inout FieldScanner) -> Int64? {
        if scanner.take("Z") || scanner.take("z") { return 0 }
        let sign: Int64
        if scanner.take("+") { sign = 1 } else if scanner.take("-") { sign = -1 } else { return nil }
        guard let hours = scanner.takeNumber(digits: 2), hours < 24, scanner.take(":"),
            let minutes = scanner.takeNumber(digits: 2), minutes < 60
        else { return nil }
        return sign * Int64(hours * 3600 + minutes * 60)
    }
}
