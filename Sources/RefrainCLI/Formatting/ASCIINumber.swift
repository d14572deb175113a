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
