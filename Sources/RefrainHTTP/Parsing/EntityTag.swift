/// An entity tag: a server's identifier of a version of a representation (RFC 9110 §8.8.3).
package struct EntityTag: Hashable, Sendable {
    /// Whether the tag is weak: equal tags mean equivalent content, not equal bytes.
    package let isWeak: Bool
    /// The text between the quotes.
    package let opaque: String

    /// Parses the lines of an `ETag` field; returns `nil` if they are malformed or differ.
    package static func parse(fieldValues: [String]) -> EntityTag? {
        guard let value = FieldValues.single(fieldValues) else { return nil }
        var scanner = FieldScanner(value)
        let isWeak = scanner.take("W/")
        guard scanner.take(.quote) else { return nil }
        let opaque = scanner.take { $0 != .quote && $0 > .space && $0 != .delete }
        guard scanner.take(.quote), scanner.isAtEnd else { return nil }
        return EntityTag(isWeak: isWeak, opaque: String(decoding: opaque, as: UTF8.self))
    }

    /// The tag in field syntax.
    package var fieldValue: String { (isWeak ? "W/\"" : "\"") + opaque + "\"" }

    /// Whether the tags are equal in every byte and both weak or both strong.
    package static func == (left: EntityTag, right: EntityTag) -> Bool {
        left.isWeak == right.isWeak && left.isWeaklyEqual(to: right)
    }

    /// Hashes the bytes of the tag.
    package func hash(into hasher: inout Hasher) {
        hasher.combine(isWeak)
        for byte in opaque.utf8 { hasher.combine(byte) }
    }

    /// Whether both tags are strong and equal (strong comparison, RFC 9110 §8.8.3.2).
    package func isStronglyEqual(to other: EntityTag) -> Bool {
        !isWeak && !other.isWeak && isWeaklyEqual(to: other)
    }

    /// Whether the tags are equal, weak or strong (weak comparison, RFC 9110 §8.8.3.2).
    package func isWeaklyEqual(to other: EntityTag) -> Bool {
        opaque.utf8.elementsEqual(other.opaque.utf8)
    }
}
