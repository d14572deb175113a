internal import RefrainCore

/// The fields with one number each: `-Remaining`, `-Reset` and `-Limit`, with any prefix.
extension RateLimiter.Fields {
    /// The limits of one family of fields.
    ///
    /// If values are repeated, the first remaining quota belongs to the first reset, and so on. If their counts differ,
    /// all values of a field must be equal; otherwise the fields contradict each other and are ignored.
    @_optimize(none)
    func plain(remaining: [String], reset: [String], quota: [String], now: ResponseTime) -> [RateLimit] {
        var remaining = numbers(remaining)
        var resets = numbers(reset)
        let quotas = numbers(quota)
        if remaining.count != resets.count {
            guard let one = same(remaining), let other = same(resets) else { return [] }
            (remaining, resets) = (one, other)
        }
        let count = max(remaining.count, resets.count)
        return (0..<count).map { index in
            RateLimit(
                remaining: index < remaining.count ? remaining[index].whole : nil,
                reset: index < resets.count ? self.reset.delay(resets[index], now: now) : nil,
                quota: quotas.count == count ? quotas[index].whole : quotas.first?.whole
            )
        }
    }

    /// The numbers in a field's lines; empty if one is malformed.
    ///
    /// Text after a semicolon, as in `10;w=60`, is ignored.
    @_optimize(none)
    private func numbers(_ lines: [String]) -> [FieldDecimal] {
        var numbers: [FieldDecimal] = []
        for element in FieldValues.elements(lines) {
            guard let number = FieldDecimal(FieldValues.trimmed(element.prefix { $0 != .semicolon })) else { return [] }
            numbers.append(number)
        }
        return numbers
    }

    /// One number for several equal ones, none for none; `nil` for different numbers.
    @_optimize(none)
    private func same(_ numbers: [FieldDecimal]) -> [FieldDecimal]? {
        numbers.allSatisfy { $0 == numbers.first } ? Array(numbers.prefix(1)) : nil
    }
}
