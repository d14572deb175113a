public import RefrainCore

/// What a `Retry-After` field says (RFC 9110 §10.2.3).
public enum RetryAfter: Hashable, Sendable {
    /// Wait this long; at most `Duration.longestDelay`, which longer numbers saturate at.
    case delay(Duration)

    /// Wait until then.
    case date(WallInstant)

    /// Reads the field's lines; `nil` if there is none, if one is malformed or if two say different things.
    ///
    /// Seconds are ASCII digits and nothing else: no sign, no fraction, no exponent. A value that stands several times,
    /// on lines of its own or joined by commas, counts if each says the same.
    ///
    /// - Parameters:
    ///   - fieldValues: The field's values, one for each line.
    ///   - now: The wall clock's time, which decides the century of two-digit years.
    public static func parse(fieldValues: [String], now: WallInstant) -> RetryAfter? {
        var result: RetryAfter?
        var pending: Substring.UTF8View?
        for line in fieldValues {
            for element in line.utf8.split(separator: .comma, omittingEmptySubsequences: false) {
                let value: RetryAfter
                if let head = pending {
                    // Two of the forms have a comma of their own, after the weekday.
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

    /// How long to wait from now; never negative.
    ///
    /// A date is read against the response's own `Date`, because both come from one clock. Where `Age` is present the
    /// response was stored and its `Date` is old, so the wall clock counts, as it does where `Date` is missing or
    /// malformed (R16). A date in the past is a delay of zero.
    ///
    /// - Parameters:
    ///   - date: The values of the response's `Date` field.
    ///   - age: The values of its `Age` field.
    ///   - wallClock: The wall clock's time at which the response came in.
    public func delay(date: [String], age: [String], wallClock: WallInstant) -> Duration {
        switch self {
        case .delay(let delay): delay
        case .date(let target):
            ResponseTime(date: date, age: age, wallClock: wallClock).instant.duration(to: target).clampedToDelay
        }
    }
}

extension RetryAfter {
    /// A number of seconds, or a date without a comma.
    private static func single(_ element: Substring.UTF8View, now: WallInstant) -> RetryAfter? {
        let bytes = FieldValues.trimmed(element)
        if let seconds = FieldNumber.saturating(bytes) { return .delay(Duration.seconds(seconds).clampedToDelay) }
        return HTTPDate.parse(String(Substring(bytes)), now: now).map(RetryAfter.date)
    }

    private static func date(
        in line: String,
        from head: Substring.UTF8View,
        to tail: Substring.UTF8View,
        now: WallInstant
    ) -> WallInstant? {
        HTTPDate.parse(String(line[head.startIndex..<tail.endIndex]), now: now)
    }

    /// Whether an element can only be the part of a date before its comma: letters, and nothing else.
    private static func isWeekday(_ element: Substring.UTF8View) -> Bool {
        let bytes = FieldValues.trimmed(element)
        return !bytes.isEmpty && bytes.allSatisfy(\.isLetter)
    }
}
