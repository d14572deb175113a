extension WallInstant {
    /// This instant moved by a duration; results out of range stop at the range's end.
    public func advanced(by duration: Duration) -> WallInstant {
        WallInstant(sinceEpoch: sinceEpoch.addingSaturated(duration))
    }

    /// The time from this instant to another one, negative if the other is earlier; it stops at the range's end.
    public func duration(to other: WallInstant) -> Duration {
        other.sinceEpoch.subtractingSaturated(sinceEpoch)
    }
}
