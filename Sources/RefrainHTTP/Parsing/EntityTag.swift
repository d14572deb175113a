/// The version of a representation, as its server names it (RFC 9110 §8.8.3).
public struct EntityTag: Hashable, Sendable {
    /// Whether equal tags promise only the same meaning, not the same bytes.
    public let isWeak: Bool
    /// The text between the quotes.
    public let opaque: String

    /// Reads an `ETag` field's lines; `nil` if they are malformed or differ.
    public static func parse(fieldValues: [String]) -> EntityTag? {
        guard let value = FieldValues.single(fieldValues) else { return nil }
        var scanner = FieldScanner(value)
        let isWeak = scanner.take("W/")
        guard scanner.take(.quote) else { return nil }
        let opaque = scanner.take { $0 != .quote && $0 > .space && $0 != .delete }
        guard scanner.take(.quote), scanner.isAtEnd else { return nil }
        return EntityTag(isWeak: isWeak, opaque: String(decoding: opaque, as: UTF8.self))
    }

    /// The tag as it stands in a field.
    public var fieldValue: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Whether both are the same tag, byte for byte, and equally weak.
    public static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.isWeak == right.isWeak && left.isWeaklyEqual(to: right)
    }

    /// Feeds the tag's bytes to a hasher.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        for byte in opaque.utf8 { hasher.combine(byte) }
    }

    /// Whether both name the same bytes: neither is weak (strong comparison, RFC 9110 §8.8.3.2).
    public func isStronglyEqual(to other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && isWeaklyEqual(to: other)
    }

    /// Whether both name the same meaning (weak comparison, RFC 9110 §8.8.3.2).
    public func isWeaklyEqual(to other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}
