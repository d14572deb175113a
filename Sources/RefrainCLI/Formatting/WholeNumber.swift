/// Whole numbers of options.
enum WholeNumber {
    /// Reads a number, and refuses what is outside its range.
    static func parse(_ text: String, option: String, in range: ClosedRange<Int>) throws(UsageError) -> Int {
        guard let number = ASCIINumber.whole(text) else {
            let isHuge = !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) }
            throw .badValue(text, of: option, isHuge ? "is too large" : "is no whole number")
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
