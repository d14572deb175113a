/// What a `Content-Length` field says (RFC 9110 §8.6, RFC 9112 §6.3).
public enum ContentLength: Hashable, Sendable {
    /// The field is not there.
    case absent
    /// The body has so many bytes.
    case bytes(Int64)
    /// The field is malformed, contradicts itself or is beyond 2⁶³ − 1: the message cannot be framed by it.
    case invalid

    /// Reads the field's lines; a number that stands several times (`5, 5`) counts once.
    public static func parse(fieldValues: [String]) -> ContentLength {
        var result = ContentLength.absent
        for element in FieldValues.elements(fieldValues) {
            guard let count = FieldNumber.exact(element) else { return .invalid }
            guard result == .absent || result == .bytes(count) else { return .invalid }
            result = .bytes(count)
        }
        return result
    }
}
