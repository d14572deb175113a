// SPDX-License-Identifier: Apache-2.0
/// The syntax checks of methods, field names and field values (RFC 9110 §5.1, §5.5, §5.6.2).
package enum HTTPToken {
    /// Whether the text is a token, as methods and field names are.
    package static func isValid(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(isToken) ?? isToken(text.utf8)
    }

    /// Whether the text is a valid field value: no control characters except tab, no surrounding white space.
    package static func isValidFieldValue(_ text: String) -> Bool {
        text.utf8.withContiguousStorageIfAvailable(isFieldValue) ?? isFieldValue(text.utf8)
    }

    // Nearly all strings are contiguous; reading their buffer costs a fraction of the string's own iteration.

    private static func isToken(_ bytes: some Collection<UInt8>) -> Bool {
        !bytes.isEmpty && bytes.allSatisfy(isTokenByte)
    }

    private static func isFieldValue(_ bytes: some BidirectionalCollection<UInt8>) -> Bool {
        guard let first = bytes.first, let last = bytes.last else { return true }
        guard !isWhitespace(first), !isWhitespace(last) else { return false }
        return bytes.allSatisfy { $0 == 0x09 || ($0 >= 0x20 && $0 != 0x7F) }
    }

    private static func isWhitespace(_ byte: UInt8) -> Bool { byte == 0x20 || byte == 0x09 }

    private static func isTokenByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"):
            true
        case UInt8(ascii: "!"), UInt8(ascii: "#"), UInt8(ascii: "$"), UInt8(ascii: "%"), UInt8(ascii: "&"),
            UInt8(ascii: "'"), UInt8(ascii: "*"), UInt8(ascii: "+"), UInt8(ascii: "-"), UInt8(ascii: "."),
            UInt8(ascii: "^"), UInt8(ascii: "_"), UInt8(ascii: "`"), UInt8(ascii: "|"), UInt8(ascii: "~"):
            true
        default:
            false
        }
    }
}
