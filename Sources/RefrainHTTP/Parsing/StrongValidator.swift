package import RefrainCore

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

    /// The validator as the value of `If-Range`.
    package var fieldValue: String {
        switch self {
        case .entityTag(let tag): tag.fieldValue
        case .lastModified(let instant): HTTPDate.format(instant)
        }
    }
}
