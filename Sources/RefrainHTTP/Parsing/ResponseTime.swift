internal import RefrainCore

/// The instant that the dates in a response are compared with.
struct ResponseTime {
    /// The response's `Date`, or the wall clock's time if `Date` is missing, malformed or from a cache.
    let instant: WallClock.Instant
    /// The wall clock's time if it is within the second of ``instant``, otherwise ``instant``.
    private let precise: WallClock.Instant

    /// Parses the fields `Date` and `Age` of a response that was received at the wall clock's time.
    init(date: [String], age: [String], wallClock: WallClock.Instant) {
        let own = age.isEmpty ? HTTPDate.parse(fieldValues: date, now: wallClock) : nil
        instant = own ?? wallClock
        let difference = instant.duration(to: wallClock)
        precise = difference >= .zero && difference < .seconds(1) ? wallClock : instant
    }

    /// The time from the response to an epoch; zero if that is past.
    ///
    /// `Date` has whole seconds, against which an epoch with a fraction would be up to a second too far away.
    func delay(until epoch: Duration) -> Duration {
        let now = epoch.components.attoseconds == 0 ? instant : precise
        return now.duration(to: WallClock.Instant(sinceEpoch: epoch)).clampedToDelay
    }
}
