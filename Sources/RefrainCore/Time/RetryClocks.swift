/// The two clocks of a retry: one for delays, one for dates (rule R21).
///
/// Delays and timeouts are measured on monotonic time. Only dates in header fields are compared with the wall clock.
public struct RetryClocks: Sendable {
    /// The monotonic clock.
    public let monotonic: AnyClock
    private let wall: @Sendable () -> WallClock.Instant

    /// The system's clocks: ``TimerClock`` and ``WallClock``.
    public static let system = RetryClocks(monotonic: AnyClock(TimerClock())) { WallClock.Instant.now }

    /// Makes a pair of clocks.
    public init(monotonic: AnyClock, wall: @escaping @Sendable () -> WallClock.Instant) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The time of day.
    public var wallNow: WallClock.Instant { wall() }

    /// The monotonic time since an arbitrary, fixed moment.
    public var now: Duration { monotonic.now.offset }
}
