internal import RefrainCore

/// The instant that the dates in a response are read against (R16).
struct ResponseTime {
    /// The response's own `Date`, or the wall clock's time if that is missing, malformed or old.
    let instant: WallInstant

    /// Reads the fields `Date` and `Age` of a response that came in at the wall clock's time.
    init(date: [String], age: [String], wallClock: WallInstant) {
        let own = age.isEmpty ? HTTPDate.parse(fieldValues: date, now: wallClock) : nil
        instant = own ?? wallClock
    }
}
