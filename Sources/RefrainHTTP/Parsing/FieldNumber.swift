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
