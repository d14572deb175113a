// SPDX-License-Identifier: Apache-2.0
extension Duration {
    /// The longest delay that this package passes to a clock: 2⁴⁰ seconds, some 35,000 years.
    ///
    /// Instants of the standard clocks can be moved by it without an overflow.
    public static let longestDelay = Duration.seconds(1 << 40)

    /// This duration, brought into the range of waits: zero up to ``longestDelay``.
    @inlinable
    package var clampedToDelay: Duration {
        self < .zero ? .zero : (self > .longestDelay ? .longestDelay : self)
    }

    /// This duration as the time that a call may take: at most 2³¹ seconds, some 68 years.
    ///
    /// An instant is moved by it, also one of a clock that counts nanoseconds in 64 bits.
    @inlinable
    package var clampedToTimeout: Duration { Swift.min(clampedToDelay, .seconds(1 << 31)) }

    /// This duration, brought so near to zero that clocks can be moved by it, and back, without an overflow.
    ///
    /// Unlike ``clampedToDelay`` it keeps the sign: what is left of a deadline may be less than nothing.
    package var withinClocks: Duration {
        min(max(self, .zero - .longestDelay), .longestDelay)
    }

    /// The duration in seconds, as near as a `Double` comes.
    @inlinable
    package var inSeconds: Double {
        // Not by way of `components`, which trap where the seconds do not fit into an Int64.
        Double(attoseconds) / 1e18
    }

    /// A wait from a number of seconds: negative ones and NaN give zero, those too large give ``longestDelay``.
    ///
    /// It is rounded to the nanosecond, so that three times 0.1 s is 0.3 s.
    @inlinable
    package static func delay(seconds: Double) -> Duration {
        guard seconds > 0 else { return .zero }
        guard seconds < 0x1p40 else { return .longestDelay }
        return Duration(attoseconds: Int128((seconds * 1e9).rounded()) * 1_000_000_000)
    }

    /// The wait in whole nanoseconds, rounded up, so that a timer never fires early.
    package var delayInNanoseconds: Int64 {
        let (seconds, attoseconds) = clampedToDelay.components
        let (whole, overflow) = seconds.multipliedReportingOverflow(by: 1_000_000_000)
        return overflow ? .max : whole.addingSaturated((attoseconds + 999_999_999) / 1_000_000_000)
    }

    /// The sum of two durations; one that is out of range stops at the range's end.
    package func addingSaturated(_ other: Duration) -> Duration {
        let (sum, overflow) = attoseconds.addingReportingOverflow(other.attoseconds)
        guard overflow else { return Duration(attoseconds: sum) }
        return Duration(attoseconds: other < .zero ? .min : .max)
    }

    /// The difference of two durations; one that is out of range stops at the range's end.
    package func subtractingSaturated(_ other: Duration) -> Duration {
        let (difference, overflow) = attoseconds.subtractingReportingOverflow(other.attoseconds)
        guard overflow else { return Duration(attoseconds: difference) }
        return Duration(attoseconds: other > .zero ? .min : .max)
    }
}

extension FixedWidthInteger {
    /// Returns the sum, which stops at the end of the range.
    package func addingSaturated(_ other: Self) -> Self {
        let (sum, overflow) = addingReportingOverflow(other)
        guard overflow else { return sum }
        return other < 0 ? .min : .max
    }

    /// Returns the difference, which stops at the end of the range.
    package func subtractingSaturated(_ other: Self) -> Self {
        let (difference, overflow) = subtractingReportingOverflow(other)
        guard overflow else { return difference }
        return other < 0 ? .max : .min
    }
}
