internal import Refrain

/// Header fields as they are written on the command line: `Name: value`.
enum HeaderText {
    /// Reads a field, and refuses what could not stand in a head.
    static func parse(_ text: String, option: String) throws(UsageError) -> (name: String, value: String) {
        guard let colon = text.firstIndex(of: ":") else {
            throw .badValue(text, of: option, "has no colon; write 'Name: value'")
        }
        let name = String(text[..<colon])
        let value = trimmed(text[text.index(after: colon)...])
        guard HTTPToken.isValid(name) else {
            throw .badValue(name, of: option, "is no header name; letters, digits and hyphens are (RFC 9110 §5.1)")
        }
        guard HTTPToken.isValidFieldValue(value) else {
            throw UsageError("\(option): the value of \(name) contains a control character: \(Shown.text(value))")
        }
        return (name, value)
    }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
