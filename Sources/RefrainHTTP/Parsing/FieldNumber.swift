/// Parses numbers in header fields, which consist of ASCII digits only.
enum FieldNumber {
    /// Returns the number, saturating at `Int64.max`; `nil` if there are no digits or other characters.
    static func saturating(_ digits: some Sequence<UInt8>) -> Int64? {
        var number: Int64 = 0
        var isEmpty = true
        for byte in digits {
            guard byte.isDigit else { return nil }
            isEmpty = false
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - .zero))
            number = overflow || carry ? .max : sum
        }
        return isEmpty ? nil : number
    }

    /// Returns the number; `nil` if it exceeds `Int64.max`, or if there are no digits or other characters.
    ///
    /// For positions and lengths, where a saturated number would be wrong.
    static func exact(_ digits: some Sequence<UInt8>) -> Int64? {
        var number: Int64 = 0
        var isEmpty = true
        for byte in digits {
            guard byte.isDigit else { return nil }
            isEmpty = false
            let (product, overflow) = number.multipliedReportingOverflow(by: 10)
            let (sum, carry) = product.addingReportingOverflow(Int64(byte - .zero))
            guard !overflow, !carry else { return nil }
            number = sum
        }
        return isEmpty ? nil : number
    }
}

/// A non-negative decimal number, such as `60` or `1.5`.
///
/// Signs, exponents and `NaN` are not allowed.
struct FieldDecimal: Hashable {
    /// The integer part; saturates at `Int64.max`.
    let whole: Int64
    /// The fraction times 10¹⁸; further digits are truncated.
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

    /// Makes the number of a structured field; `nil` if the item is negative or not a number.
    init?(_ item: StructuredField.BareItem) {
        switch item {
        case .integer(let number) where number >= 0: (whole, attos) = (number, 0)
        case .decimal(let decimal) where decimal.thousandths >= 0:
            (whole, attos) = (decimal.thousandths / 1000, decimal.thousandths % 1000 * 1_000_000_000_000_000)
        default: return nil
        }
    }

    /// Whether the number is greater than an integer.
    func isGreater(than other: Int64) -> Bool { whole > other || whole == other && attos > 0 }

    var asSeconds: Duration { .seconds(whole) + Duration(secondsComponent: 0, attosecondsComponent: attos) }

    var asMilliseconds: Duration {
        .milliseconds(whole) + Duration(secondsComponent: 0, attosecondsComponent: attos / 1000)
    }
}
