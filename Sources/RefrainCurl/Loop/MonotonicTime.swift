internal import RefrainCore

/// Nanoseconds of the monotonic clock; a plain number, since every transfer compares several.
typealias MonotonicTime = Int64

extension MonotonicTime {
    static var now: MonotonicTime { SystemTime.monotonicNanoseconds }

    static let never = MonotonicTime.max

    /// The moment after a wait; ``never`` where there is no wait, or none that ends.
    func after(_ wait: Duration?) -> MonotonicTime {
        guard let wait else { return .never }
        return after(wait.delayInNanoseconds)
    }

    /// The moment so many nanoseconds later; ``never`` where they are ``never``.
    func after(_ nanoseconds: Int64) -> MonotonicTime {
        let (sum, overflow) = addingReportingOverflow(nanoseconds)
        return overflow ? .never : sum
    }

    /// The time until then in whole milliseconds, rounded up, for a poll.
    func millisecondsUntil(_ then: MonotonicTime) -> Int32 {
        guard then > self else { return 0 }
        return Int32(clamping: Swift.min((then &- self) / 1_000_000 &+ 1, 60_000))
    }
}
