/// A number that is not negative, with or without decimal places, such as `60` and `1.5`.
///
/// Nothing else is one: no sign, no exponent, no `NaN`.
struct FieldDecimal: Hashable {
    /// What stands before the point; `Int64.max` where that is larger.
    let whole: Int64
    /// What stands after it, times 10¹⁸; further places are cut off.
    let attos: Int64

    init?(_ bytes: Substring.UTF8View) {
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, let whole = FieldNumber.saturating(first) else { return nil }
        var attos: Int64 = 0
        if parts.count == 2 {
            let places = parts[1]
            guard !places.isEmpty, places.allSatisfy(\.isDigit) else { return nil }
            var weight: Int64 = 100_000_000_000_000_000
            for digit in places.prefix(18) {
                attos += Int64(digit - .zero) * weight
                weight /= 10
            }
        }
        (self.whole, self.attos) = (whole, attos)
    }

    /// A number that a structured field holds; `nil` if it is negative or none.
    init?(_ item: StructuredField.BareItem) {
        switch item {
        case .integer(let number) where number >= 0: (whole, attos) = (number, 0)
        case .decimal(let decimal) where decimal.thousandths >= 0:
            (whole, attos) = (decimal.thousandths / 1000, decimal.thousandths % 1000 * 1_000_000_000_000_000)
        default: return nil
        }
    }

    /// Whether the number is greater than a whole one.
    func isGreater(than other: Int64) -> Bool { whole > other || whole == other && attos > 0 }

    var asSeconds: Duration { .seconds(whole) + Duration(secondsComponent: 0, attosecondsComponent: attos) }

    var asMilliseconds: Duration {
        .milliseconds(whole) + Duration(secondsComponent: 0, attosecondsComponent: attos / 1000)
    }
}
