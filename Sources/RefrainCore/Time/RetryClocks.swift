// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
// On Linux `timespec` reaches Swift through this module, or through Glibc, whichever the compiler has built first.
internal import SwiftOverlayShims
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The two clocks of a retry: one for delays, one for dates (rule R21).
///
/// Delays and timeouts are measured on monotonic time. Only dates in header fields are compared with the wall clock.
public struct RetryClocks: Sendable {
    /// The monotonic clock, with its type erased.
    package let timer: AnyClock
    private let wall: @Sendable () -> WallClock.Instant

    /// The system's clocks: a monotonic one, with one timer for all delays, and ``WallClock``.
    public static let system = RetryClocks(monotonic: TimerClock()) { WallClock.Instant.now }

    /// Makes a pair of clocks.
    ///
    /// - Parameters:
    ///   - monotonic: the clock for delays and timeouts.
    ///   - wall: returns the time of day.
    public init(monotonic: some Clock<Duration>, wall: @escaping @Sendable () -> WallClock.Instant) {
        timer = AnyClock(monotonic)
        self.wall = wall
    }

    /// The clock for delays and timeouts.
    public var monotonic: any Clock<Duration> { timer }

    /// The time of day.
    public var wallNow: WallClock.Instant { wall() }

    /// The monotonic time since an arbitrary, fixed moment.
    public var now: Duration { timer.now.offset }
}

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

/// The two clocks of the system, as numbers.
package enum SystemTime {
    /// The nanoseconds of the monotonic clock.
    package static var monotonicNanoseconds: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) &* 1_000_000_000 &+ Int64(time.tv_nsec)
    }

    /// The time since the Unix epoch.
    package static var sinceEpoch: Duration {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
    }
}
