// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

/// Formats HTTP dates (RFC 9110 §5.6.7) from seconds since 1970, in the years 1 to 9999.
enum HTTPDateText {
    /// IMF-fixdate: `Sun, 06 Nov 1994 08:49:37 GMT`.
    static func imf(_ seconds: Double) -> String { HTTPDate.format(instant(seconds)) }

    /// The RFC 850 format: `Sunday, 06-Nov-94 08:49:37 GMT`.
    static func rfc850(_ seconds: Double) -> String { HTTPDate.format(instant(seconds), as: .rfc850) }

    /// The asctime format: `Sun Nov  6 08:49:37 1994`.
    static func asctime(_ seconds: Double) -> String { HTTPDate.format(instant(seconds), as: .asctime) }

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

    private static func instant(_ seconds: Double) -> WallClock.Instant {
        let clamped = min(max(seconds.isFinite ? seconds : 0, -62_135_596_800), 253_402_300_799)
        return WallClock.Instant(sinceEpoch: .seconds(Int64(clamped.rounded(.down))))
    }
}
