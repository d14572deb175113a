// Numbers of a decoded snapshot may be any.
extension Int {
    /// The sum, at most the largest and at least the smallest number there is.
    func addingSaturated(_ other: Int) -> Int {
        let (sum, overflows) = addingReportingOverflow(other)
        return overflows ? (other < 0 ? .min : .max) : sum
    }

    /// The difference, at most the largest and at least the smallest number there is.
    func subtractingSaturated(_ other: Int) -> Int {
        let (difference, overflows) = subtractingReportingOverflow(other)
        return overflows ? (other < 0 ? .max : .min) : difference
    }
}
