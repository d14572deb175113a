/// When a call with a timeout ends, on the clock of its delays.
///
/// An object, because an asynchronous function keeps room in its frame for every value whose size is known only at run
/// time, as that of an instant of the standard library's clocks.
@usableFromInline
final class ClockDeadline<C: Clock> where C.Duration == Duration {
    private let clock: C
    private let instant: C.Instant

    @usableFromInline
    init(after duration: Duration, _ clock: C) {
        self.clock = clock
        instant = clock.now.advanced(by: duration)
    }

    @usableFromInline var timeLeft: Duration { clock.now.duration(to: instant) }
}
