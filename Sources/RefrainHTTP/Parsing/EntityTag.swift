// SPDX-License-Identifier: Apache-2.0
package import RefrainCore

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

/// A validator that identifies the rest of a download: the value of `If-Range` (RFC 9110 §13.1.5).
package enum StrongValidator: Hashable, Sendable {
    /// An entity tag that is not weak.
    case entityTag(EntityTag)
    /// A modification date that is strong in the sense of RFC 9110 §8.8.2.2.
    case lastModified(WallClock.Instant)

    /// The minimum difference between `Last-Modified` and `Date` for a strong modification date: 60 s.
    ///
    /// RFC 9110 §8.8.2.2 requires one second if both are known to come from one clock, which a client cannot know, or a
    /// difference large enough to make clock problems unlikely, which RFC 7232 §2.2.2 set to 60 s.
    package static let defaultMargin = Duration.seconds(60)

    /// Returns the strong validator of a response, or `nil` if it has none.
    ///
    /// A date is used only if there is no entity tag at all, weak and malformed ones included (RFC 9110 §13.1.5).
    ///
    /// - Parameters:
    ///   - entityTag: the values of the field `ETag`.
    ///   - lastModified: the values of `Last-Modified`.
    ///   - date: the values of `Date`.
    ///   - wallClock: determines the century of two-digit years.
    ///   - margin: see ``defaultMargin``; values under one second count as one second.
    package static func find(
        entityTag: [String],
        lastModified: [String],
        date: [String],
        wallClock: WallClock.Instant,
        margin: Duration = defaultMargin
    ) -> StrongValidator? {
        guard entityTag.isEmpty else {
            guard let tag = EntityTag.parse(fieldValues: entityTag), !tag.isWeak else { return nil }
            return .entityTag(tag)
        }
        guard let modified = HTTPDate.parse(fieldValues: lastModified, now: wallClock) else { return nil }
        guard let sent = HTTPDate.parse(fieldValues: date, now: wallClock) else { return nil }
        return modified.duration(to: sent) >= max(margin, .seconds(1)) ? .lastModified(modified) : nil
    }

    /// Parses the value of `If-Range`; nil if it is neither a strong entity tag nor a date.
    init?(fieldValue text: String) {
        if text.hasPrefix("\"") {
            guard let tag = EntityTag.parse(fieldValues: [text]) else { return nil }
            self = .entityTag(tag)
        } else {
            guard let date = HTTPDate.parse(text) else { return nil }
            self = .lastModified(date)
        }
    }

    /// The validator as the value of `If-Range`.
    package var fieldValue: String {
        switch self {
        case .entityTag(let tag): tag.fieldValue
        case .lastModified(let instant): HTTPDate.format(instant)
        }
    }
}
