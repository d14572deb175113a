// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// Header fields as they are written on the command line: `Name: value`.
enum HeaderText {
    /// Reads and validates a field; messages do not show the value, which may be a secret.
    static func parse(_ text: String, option: String) throws(UsageError) -> (name: String, value: String) {
        guard let colon = text.firstIndex(of: ":") else {
            throw UsageError("\(option): \(firstWord(of: text) ?? "a field") has no colon; write 'Name: value'")
        }
        let name = String(text[..<colon])
        let value = trimmed(text[text.index(after: colon)...])
        guard HTTPHeaders.isValidName(name) else {
            let shown = firstWord(of: name) ?? Sanitized.text(name)
            throw UsageError(
                "\(option): \(shown) is not a header name; letters, digits and hyphens are (RFC 9110 §5.1)"
            )
        }
        guard HTTPHeaders.isValidValue(value) else {
            let index = (value.utf8.enumerated().first { Self.isControl($0.element) }?.offset ?? 0) + 1
            throw UsageError("\(option): the value of \(name) contains a control character at byte \(index)")
        }
        return (name, value)
    }

    /// The first word of a refused field, which is its name if the colon was forgotten.
    private static func firstWord(of text: String) -> String? {
        let words = text.split(maxSplits: 1) { $0 == " " || $0 == "\t" }
        guard words.count == 2, HTTPHeaders.isValidName(String(words[0])) else { return nil }
        return Sanitized.text("\(words[0]) …")
    }

    private static func isControl(_ byte: UInt8) -> Bool { (byte < 0x20 && byte != 0x09) || byte == 0x7F }

    private static func trimmed(_ text: Substring) -> String {
        var bytes = text.utf8[...]
        while let first = bytes.first, first == 0x20 || first == 0x09 { bytes.removeFirst() }
        while let last = bytes.last, last == 0x20 || last == 0x09 { bytes.removeLast() }
        return String(Substring(bytes))
    }
}
