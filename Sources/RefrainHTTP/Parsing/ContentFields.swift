/// The value of a `Content-Length` field (RFC 9110 §8.6, RFC 9112 §6.3).
package enum ContentLength: Hashable, Sendable {
    /// There is no such field.
    case absent
    /// The number of bytes in the body.
    case bytes(Int64)
    /// The field is malformed, has different values or exceeds 2⁶³ − 1; it cannot frame the message.
    case invalid

    /// Parses the field's lines.
    ///
    /// A repeated number (`5, 5`) is valid.
    package static func parse(fieldValues: [String]) -> ContentLength {
        // Nearly every response has one line with one number; no list is made for it.
        if fieldValues.count == 1, let count = FieldNumber.exact(fieldValues[0].utf8) { return .bytes(count) }
        var result = ContentLength.absent
        for element in FieldValues.elements(fieldValues) {
            guard let count = FieldNumber.exact(element) else { return .invalid }
            guard result == .absent || result == .bytes(count) else { return .invalid }
            result = .bytes(count)
        }
        return result
    }
}

/// The value of a `Content-Range` field in bytes (RFC 9110 §14.4).
package enum ContentRange: Hashable, Sendable {
    /// The part from the first to the last position, inclusive; `total` is `nil` if unknown (`*`).
    case part(first: Int64, last: Int64, total: Int64?)
    /// The requested range is outside the content, which has `total` bytes.
    case unsatisfied(total: Int64)

    /// Parses the field's lines; returns `nil` if they are malformed, contradictory, beyond 2⁶³ − 1 or not in bytes.
    package static func parse(fieldValues: [String]) -> ContentRange? {
        guard let value = FieldValues.single(fieldValues) else { return nil }
        var scanner = FieldScanner(value)
        guard scanner.takeToken()?.lowercased() == "bytes", scanner.take(.space) else { return nil }
        let range: ContentRange?
        if scanner.take("*/") {
            range = takePosition(&scanner).map(ContentRange.unsatisfied)
        } else {
            range = takePart(&scanner)
        }
        return scanner.isAtEnd ? range : nil
    }

    private static func takePart(_ scanner: inout FieldScanner) -> ContentRange? {
        guard let first = takePosition(&scanner), scanner.take("-") else { return nil }
        guard let last = takePosition(&scanner), first <= last, scanner.take("/") else { return nil }
        if scanner.take("*") { return .part(first: first, last: last, total: nil) }
        guard let total = takePosition(&scanner), last < total else { return nil }
        return .part(first: first, last: last, total: total)
    }

    private static func takePosition(_ scanner: inout FieldScanner) -> Int64? {
        FieldNumber.exact(scanner.take { $0.isDigit })
    }
}
