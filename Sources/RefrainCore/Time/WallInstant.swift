/// A point of civil time, as a duration since the Unix epoch.
public struct WallInstant: Hashable, Comparable, Sendable, Codable {
    /// The time since 1970-01-01T00:00:00Z; negative before.
    public var sinceEpoch: Duration

    /// Makes an instant from its distance to the Unix epoch.
    public init(sinceEpoch: Duration) { self.sinceEpoch = sinceEpoch }

    /// The wall clock's reading.
    public static var now: WallInstant { WallInstant(sinceEpoch: SystemTime.sinceEpoch) }

    /// Whether the left instant comes before the right one.
    public static func < (left: WallInstant, right: WallInstant) -> Bool { left.sinceEpoch < right.sinceEpoch }
}
