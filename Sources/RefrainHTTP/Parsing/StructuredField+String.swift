extension StructuredField {
    /// Serializes a string item (RFC 9651 §4.1.6), such as an idempotency key.
    ///
    /// - Returns: the quoted string, or `nil` if the text contains characters other than printable ASCII.
    @_optimize(none)
    public static func serialize(_ string: String) -> String? {
        var result = "\""
        for scalar in string.unicodeScalars {
            guard (0x20...0x7E).contains(scalar.value) else { return nil }
            if scalar == "\"" || scalar == "\\" { result.unicodeScalars.append("\\") }
            result.unicodeScalars.append(scalar)
        }
        return result + "\""
    }
}
