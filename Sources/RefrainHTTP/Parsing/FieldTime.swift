internal import RefrainCore

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

    /// A moment by RFC 3339, with an offset and an optional fraction, which is truncated.
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
        if scanner.take("."), scanner.take(while: { $0.isDigit }).isEmpty { return nil }
        guard let offset = offset(&scanner), scanner.isAtEnd else { return nil }
        let civil = CivilTime(year: year, month: month, day: day, hour: hour, minute: minute, second: second)
        return civil.secondsSinceEpoch.map { WallClock.Instant(sinceEpoch: .seconds($0 - offset)) }
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
