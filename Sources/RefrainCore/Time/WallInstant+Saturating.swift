extension WallInstant {
    /// This instant moved by a duration; results out of range stop at the range's end.
    public func advanced(by duration: Duration) -> WallInstant {
        let (sum, overflow) = sinceEpoch.attoseconds.addingReportingOverflow(duration.attoseconds)
        guard overflow else { return WallInstant(sinceEpoch: Duration(attoseconds: sum)) }
        return WallInstant(sinceEpoch: Duration(attoseconds: duration < .zero ? .min : .max))
    }

    /// The time from this instant to another one, negative if the other is earlier; it stops at the range's end.
    public func duration(to other: WallInstant) -> Duration {
        let (difference, overflow) = other.sinceEpoch.attoseconds.subtractingReportingOverflow(sinceEpoch.attoseconds)
        guard overflow else { return Duration(attoseconds: difference) }
        return Duration(attoseconds: other < self ? .min : .max)
    }
}
