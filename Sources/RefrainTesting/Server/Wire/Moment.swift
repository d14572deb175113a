internal import RefrainCore

/// The two clocks of the system, in seconds.
enum Moment {
    static func monotonic() -> Double { Double(SystemTime.monotonicNanoseconds) / 1e9 }
    static func wall() -> Double { SystemTime.sinceEpoch.inSeconds }
}

extension Duration {
    /// Whole milliseconds, rounded up, between 0 and a day.
    var milliseconds: Int32 {
        if self <= .zero { return 0 }
        if self >= .seconds(86_400) { return 86_400_000 }
        let (seconds, attoseconds) = components
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
