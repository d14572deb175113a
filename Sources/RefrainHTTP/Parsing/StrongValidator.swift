public import RefrainCore

/// What proves that the rest of a download belongs to its beginning: the value of an `If-Range` (RFC 9110 §13.1.5).
public enum StrongValidator: Hashable, Sendable {
    /// An entity tag that is not weak.
    case entityTag(EntityTag)
    /// A modification date that is strong in the sense of RFC 9110 §8.8.2.2.
    case lastModified(WallInstant)

    /// How long before its `Date` a response must have been modified for its `Last-Modified` to be strong: 60 s.
    ///
    /// RFC 9110 §8.8.2.2 asks for one second and reason to believe that both come from one clock, or for a difference
    /// that makes trouble with clocks unlikely. A client has no such reason, and RFC 7232 had 60 s for the difference.
    public static let defaultMargin = Duration.seconds(60)

    /// Finds the strong validator of a response (R11); `nil` if it has none.
    ///
    /// A date counts only where there is no entity tag at all, be it weak or malformed (RFC 9110 §13.1.5).
    ///
    /// - Parameters:
    ///   - entityTag: The values of the field `ETag`.
    ///   - lastModified: Those of `Last-Modified`.
    ///   - date: Those of `Date`.
    ///   - wallClock: Decides the century of two-digit years.
    ///   - margin: See ``defaultMargin``; less than one second counts as one.
    public static func find(
        entityTag: [String],
        lastModified: [String],
        date: [String],
        wallClock: WallInstant,
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

    /// The validator as it stands in `If-Range`.
    public var fieldValue: String {
        switch self {
        case .entityTag(let tag): tag.fieldValue
        case .lastModified(let instant): HTTPDate.format(instant)
        }
    }
}
