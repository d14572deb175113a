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
