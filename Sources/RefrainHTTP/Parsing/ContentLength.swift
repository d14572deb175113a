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
