/// The two clocks that a retry needs, injected as one value (rule R21).
///
/// Waits are measured on monotonic time, which nobody sets. Dates in header fields are compared with the wall clock,
/// and with it only.
public struct ClockPair: Sendable {
    /// Monotonic time, which waits are measured and spent on.
    public let monotonic: ErasedClock
    private let wall: @Sendable () -> WallInstant

    /// The system's clocks: ``TimerClock`` and the wall clock.
    public static let system = ClockPair(monotonic: ErasedClock(TimerClock())) { WallInstant.now }

    /// Pairs a monotonic clock with a wall clock.
    public init(monotonic: ErasedClock, wall: @escaping @Sendable () -> WallInstant) {
        self.monotonic = monotonic
        self.wall = wall
    }

    /// The wall clock's time of day.
    public var wallNow: WallInstant { wall() }

    /// The time since an arbitrary, fixed moment, on monotonic time.
    public var now: Duration { monotonic.now.offset }
}
