// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The name that a server gives a body, in `Content-Disposition` (RFC 6266).
enum DispositionField {
    /// The name of a file; nil: the field names none.
    ///
    /// `filename*` comes before `filename` where it is well-formed. Of a path only the last part counts, and of that
    /// what every file system takes (``OutputNaming/sanitized(_:)``).
    static func filename(_ field: String) -> String? {
        var (plain, extended): (String?, String?)
        for part in parts(of: field).dropFirst() {
            let pair = part.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1)
                .map { String(Substring($0)).trimmedOfWhiteSpace }
            guard pair.count == 2 else { continue }
            // The first of several counts, as in browsers.
            switch pair[0].lowercased() {
            case "filename": plain = plain ?? file(pair[1].unicodeScalars.first == "\"" ? unquoted(pair[1]) : pair[1])
            case "filename*": extended = extended ?? decoded(pair[1]).flatMap(file)
            default: break
            }
        }
        return extended ?? plain
    }

    /// The last part of a path, fit for a file; nil: there is none, or it is a folder above.
    private static func file(_ path: String) -> String? {
        let last = path.split(whereSeparator: { $0 == "/" || $0 == "\\" }).last ?? ""
        return last.allSatisfy { $0 == "." || $0 == " " } ? nil : OutputNaming.sanitized(String(last))
    }

    /// The parts between the semicolons outside quotation marks.
    private static func parts(of field: String) -> [String] {
        var parts = [""]
        var (isQuoted, isEscaped) = (false, false)
        // By scalars: a combining mark makes one character with the quotation mark or the semicolon before it.
        for character in field.unicodeScalars {
            if character == ";", !isQuoted {
                parts.append("")
                continue
            }
            parts[parts.count - 1].unicodeScalars.append(character)
            if character == "\"", !isEscaped { isQuoted.toggle() }
            isEscaped = isQuoted && character == "\\" && !isEscaped
        }
        return parts
    }

    /// A quoted text up to its last quotation mark; servers write paths of other systems with single backslashes, so
    /// only those before a quotation mark or a backslash are taken out.
    private static func unquoted(_ text: String) -> String {
        var (result, rest) = ("".unicodeScalars, text.unicodeScalars.dropFirst())
        while let character = rest.popFirst(), character != "\"" {
            guard character == "\\", let next = rest.first, next == "\"" || next == "\\" else {
                result.append(character)
                continue
            }
            result.append(next)
            rest.removeFirst()
        }
        return String(result)
    }

    /// A value in the form `charset'language'value` (RFC 8187 §3.2); nil for one that is malformed, or in a charset
    /// other than UTF-8 and, of RFC 5987, ISO-8859-1.
    private static func decoded(_ value: String) -> String? {
        let parts = value.split(separator: "'", omittingEmptySubsequences: false)
        guard parts.count == 3, let bytes = percentDecoded(parts[2]) else { return nil }
        switch parts[0].lowercased() {
        case "utf-8": return String(validating: bytes, as: UTF8.self)
        case "iso-8859-1": return String(String.UnicodeScalarView(bytes.map { Unicode.Scalar($0) }))
        default: return nil
        }
    }

    /// The bytes of `value-chars`; nil where there is another character, or an escape that is none.
    private static func percentDecoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = text.utf8[...]
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%") {
                guard rest.count >= 2, let escaped = hexadecimal(rest.prefix(2)) else { return nil }
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                guard isAttributeCharacter(byte) else { return nil }
                bytes.append(byte)
            }
        }
        return bytes
    }

    private static func hexadecimal(_ digits: Substring.UTF8View) -> UInt8? {
        // A sign is not a digit.
        digits.contains { $0 == UInt8(ascii: "+") || $0 == UInt8(ascii: "-") }
            ? nil : String(digits).flatMap { UInt8($0, radix: 16) }
    }

    /// `attr-char` of RFC 8187.
    private static func isAttributeCharacter(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "a")...UInt8(ascii: "z"),
            UInt8(ascii: "A")...UInt8(ascii: "Z"):
            true
        default: "!#$&+-.^_`|~".utf8.contains(byte)
        }
    }
}
