// A decoded snapshot may contain any numbers.
extension Int {
    /// The sum, saturating at the bounds of Int.
    func addingSaturated(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, saturating at the bounds of Int.
    func subtractingSaturated(_ other: Int) -> Int {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
