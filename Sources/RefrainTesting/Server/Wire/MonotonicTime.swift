internal import RefrainCore

/// The monotonic clock and the wall clock, in seconds.
enum MonotonicTime {
    static func monotonic() -> Double { Double(SystemTime.monotonicNanoseconds) / 1e9 }
    static func wall() -> Double { SystemTime.sinceEpoch.inSeconds }
}

extension Duration {
    /// Milliseconds, rounded up and clamped to 0 … 1 day.
    var milliseconds: Int32 {
        if self <= .zero { return 0 }
        if self >= .seconds(86_400) { return 86_400_000 }
        let (seconds, attoseconds) = components
        return Int32(seconds * 1000 + (attoseconds + 999_999_999_999_999) / 1_000_000_000_000_000)
    }
}
