/// Numbers in header fields: ASCII digits and nothing else, of any length.
enum FieldNumber {
    /// The number, or `Int64.max` where it is larger; `nil` unless there are digits, and only digits.
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

    /// The number, or `nil` where it is larger than `Int64.max` or where there are other things than digits.
    ///
    /// For positions and lengths, where a number near the right one is a wrong one.
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
