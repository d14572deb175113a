// SPDX-License-Identifier: Apache-2.0
/// Numbers as people write them on a command line: ASCII digits, and a point where decimals are allowed.
enum ASCIINumber {
    /// A whole number; nil for anything but digits, and for what an `Int` cannot hold.
    static func whole(_ text: some StringProtocol) -> Int? {
        guard !text.isEmpty, text.utf8.allSatisfy({ (48...57).contains($0) }) else { return nil }
        return Int(text)
    }

    /// A number with decimals; nil for signs, exponents, separators, infinity and the like.
    static func decimal(_ text: some StringProtocol) -> Double? {
        let parts = text.split(separator: ".", maxSplits: 1, omittingEmptySubsequences: false)
        guard let first = parts.first, isDigits(first), parts.count < 2 || isDigits(parts[1]) else { return nil }
        guard let number = Double(String(text)), number.isFinite else { return nil }
        return number
    }

    /// The number and what follows it, such as `1.5` and `s`.
    static func split(_ text: String) -> (number: Substring, unit: Substring) {
        let number = text.prefix { $0.isASCII && ($0.isNumber || $0 == ".") }
        return (number, text[number.endIndex...])
    }

    private static func isDigits(_ text: some StringProtocol) -> Bool {
        !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
    }
}

/// The letters and digits that every host and file system takes.
enum ASCIILetter {
    /// Whether a byte is an ASCII letter or digit.
    static func isLetterOrDigit(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "0")...UInt8(ascii: "9"):
            true
        default: false
        }
    }
}

/// Whole numbers of options.
enum WholeNumber {
    /// Reads a number, and refuses what is outside its range.
    static func parse(_ text: String, option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = ASCIINumber.whole(text) else {
            let isHuge = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
            throw .badValue(text, of: option, isHuge ? "is too large" : "is not a whole number")
        }
        guard range.contains(number) else {
            throw .badValue(
                text,
                of: option,
                "is out of range; it goes from \(range.lowerBound) to \(range.upperBound)"
            )
        }
        return number
    }
}

/// Numbers with a fixed number of decimals.
enum Decimals {
    /// A number rounded to a number of places (0 to 9); one that is too large for that is not rounded.
    static func text(_ number: Double, places: Int) -> String {
        let places = min(max(places, 0), 9)
        let scale = (0..<places).reduce(1.0) { product, _ in product * 10 }
        let scaled = (number * scale).rounded()
        guard scaled.isFinite, scaled.magnitude < 1e15 else { return "\(number)" }
        let units = Int64(scaled.magnitude)
        let divisor = Int64(scale)
        let sign = scaled < 0 ? "-" : ""
        guard places > 0 else { return "\(sign)\(units)" }
        let fraction = String(units % divisor)
        return "\(sign)\(units / divisor)." + String(repeating: "0", count: places - fraction.count) + fraction
    }
}
