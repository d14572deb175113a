/// The clock of the time of day.
///
/// It is read for dates only; delays use a monotonic clock (rule R21).
public enum WallClock {
    /// A point in time, as a duration since the Unix epoch.
    public struct Instant: Hashable, Comparable, Sendable, Codable {
        /// The time since 1970-01-01T00:00:00Z; negative before.
        public var sinceEpoch: Duration

        /// Makes an instant from its distance to the Unix epoch.
        public init(sinceEpoch: Duration) { self.sinceEpoch = sinceEpoch }

        /// The present time of day.
        public static var now: Instant { Instant(sinceEpoch: SystemTime.sinceEpoch) }

        /// Returns this instant moved by a duration.
        ///
        /// Results out of range saturate.
        public func advanced(by duration: Duration) -> Instant {
            Instant(sinceEpoch: sinceEpoch.addingSaturated(duration))
        }

        /// Returns the time from this instant to another one, negative if the other is earlier.
        ///
        /// It saturates.
        public func duration(to other: Instant) -> Duration {
            other.sinceEpoch.subtractingSaturated(sinceEpoch)
        }

        /// Whether the left instant comes before the right one.
        public static func < (left: Instant, right: Instant) -> Bool { left.sinceEpoch < right.sinceEpoch }
    }
}
