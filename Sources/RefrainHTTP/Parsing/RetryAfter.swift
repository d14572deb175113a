// SPDX-License-Identifier: Apache-2.0
package import RefrainCore

/// The value of a `Retry-After` field (RFC 9110 §10.2.3).
package enum RetryAfter: Hashable, Sendable {
    /// A delay; saturates at `Duration.longestDelay`.
    case delay(Duration)

    /// The instant at which to retry.
    case date(WallClock.Instant)

    /// Parses the field's lines; returns `nil` if there are none, if one is malformed or if their values differ.
    ///
    /// Seconds consist of ASCII digits only: no sign, fraction or exponent. A repeated value, on separate lines or
    /// separated by commas, is valid.
    ///
    /// - Parameters:
    ///   - fieldValues: the field's values, one per line.
    ///   - now: the wall clock's time, which determines the century of two-digit years.
    package static func parse(fieldValues: [String], now: WallClock.Instant) -> RetryAfter? {
        var result: RetryAfter?
        var pending: Substring.UTF8View?
        for line in fieldValues {
            for element in line.utf8.split(separator: .comma, omittingEmptySubsequences: false) {
                let value: RetryAfter
                if let head = pending {
                    // Two of the date formats contain a comma, after the weekday.
                    guard let date = date(in: line, from: head, to: element, now: now) else { return nil }
                    value = .date(date)
                    pending = nil
                } else if isWeekday(element) {
                    pending = element
                    continue
                } else {
                    guard let read = single(element, now: now) else { return nil }
                    value = read
                }
                guard result == nil || result == value else { return nil }
                result = value
            }
            guard pending == nil else { return nil }
        }
        return result
    }

    /// Reads the delay that a response requests; returns `nil` if it has none of the fields, or only malformed ones.
    ///
    /// `retry-after-ms` and `x-ms-retry-after-ms`, which Azure and OpenAI send, say in milliseconds what `Retry-After`
    /// says in seconds. They count where that is missing or malformed, and where it is the same delay, rounded to a
    /// second. Otherwise the standard's field counts.
    ///
    /// - Parameters:
    ///   - headers: the fields of the response.
    ///   - now: the wall clock's time, which determines the century of two-digit years.
    package static func read(_ headers: HTTPHeaders, now: WallClock.Instant) -> RetryAfter? {
        let standard = parse(fieldValues: headers[values: "Retry-After"], now: now)
        let names = ["retry-after-ms", "x-ms-retry-after-ms"]
        guard let exact = names.lazy.compactMap({ milliseconds(headers[values: $0]) }).first else { return standard }
        switch standard {
        case nil: return .delay(exact)
        case .delay(let rounded) where exact - rounded < .seconds(1) && rounded - exact < .seconds(1):
            return .delay(exact)
        case .delay, .date: return standard
        }
    }

    /// Parses a number of milliseconds, which may have a fraction.
    private static func milliseconds(_ fieldValues: [String]) -> Duration? {
        guard let value = FieldValues.single(fieldValues) else { return nil }
        return FieldDecimal(FieldValues.trimmed(value[...].utf8))?.asMilliseconds.clampedToDelay
    }

    /// The delay from now; never negative.
    ///
    /// A date is compared with the response's `Date`, which comes from the same clock. If `Age` is present, `Date` is
    /// outdated, and the wall clock is used, as it is if `Date` is missing or malformed. A date in the past gives a
    /// delay of zero.
    ///
    /// - Parameters:
    ///   - date: the values of the response's `Date` field.
    ///   - age: the values of its `Age` field.
    ///   - wallClock: the wall clock's time at which the response was received.
    package func delay(date: [String], age: [String], wallClock: WallClock.Instant) -> Duration {
        switch self {
        case .delay(let delay): delay
        case .date(let target):
            ResponseTime(date: date, age: age, wallClock: wallClock).instant.duration(to: target).clampedToDelay
        }
    }
}

extension RetryAfter {
    /// Parses a number of seconds, or a date without a comma.
    private static func single(_ element: Substring.UTF8View, now: WallClock.Instant) -> RetryAfter? {
        let bytes = FieldValues.trimmed(element)
        if let seconds = FieldNumber.saturating(bytes) { return .delay(Duration.seconds(seconds).clampedToDelay) }
        return HTTPDate.parse(String(Substring(bytes)), now: now).map(RetryAfter.date)
    }

    private static func date(
        in line: String,
        from head: Substring.UTF8View,
        to tail: Substring.UTF8View,
        now: WallClock.Instant
    ) -> WallClock.Instant? {
        HTTPDate.parse(String(line[head.startIndex..<tail.endIndex]), now: now)
    }

    /// Whether an element can be the weekday of a date, before its comma: it consists of letters only.
    private static func isWeekday(_ element: Substring.UTF8View) -> Bool {
        let bytes = FieldValues.trimmed(element)
        return !bytes.isEmpty && bytes.allSatisfy(\.isLetter)
    }
}

/// The instant that the dates in a response are compared with.
struct ResponseTime {
    /// The response's `Date`, or the wall clock's time if `Date` is missing, malformed or from a cache.
    let instant: WallClock.Instant
    /// The wall clock's time if it is within the second of ``instant``, otherwise ``instant``.
    private let precise: WallClock.Instant

    /// Parses the fields `Date` and `Age` of a response that was received at the wall clock's time.
    init(date: [String], age: [String], wallClock: WallClock.Instant) {
        let own = age.isEmpty ? HTTPDate.parse(fieldValues: date, now: wallClock) : nil
        instant = own ?? wallClock
        let difference = instant.duration(to: wallClock)
        precise = difference >= .zero && difference < .seconds(1) ? wallClock : instant
    }

    /// The time from the response to an epoch; zero if that is past.
    ///
    /// `Date` has whole seconds, against which an epoch with a fraction would be up to a second too far away.
    func delay(until epoch: Duration) -> Duration {
        let now = epoch.components.attoseconds == 0 ? instant : precise
        return now.duration(to: WallClock.Instant(sinceEpoch: epoch)).clampedToDelay
    }
}
