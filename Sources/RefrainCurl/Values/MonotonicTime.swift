// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Nanoseconds of the monotonic clock; a plain number, because every transfer compares several.
typealias MonotonicTime = Int64

extension MonotonicTime {
    static var now: MonotonicTime { SystemTime.monotonicNanoseconds }

    static let never = MonotonicTime.max

    /// The time after a wait; ``never`` without a wait, or for one without an end.
    func after(_ wait: Duration?) -> MonotonicTime {
        guard let wait else { return .never }
        return after(wait.delayInNanoseconds)
    }

    /// The time this many nanoseconds later; ``never`` if they are ``never``.
    func after(_ nanoseconds: Int64) -> MonotonicTime {
        let (sum, overflow) = addingReportingOverflow(nanoseconds)
        return overflow ? .never : sum
    }

    /// The time until another one in whole milliseconds, rounded up, for a poll.
    func millisecondsUntil(_ then: MonotonicTime) -> Int32 {
        guard then > self else { return 0 }
        return Int32(clamping: Swift.min((then &- self) / 1_000_000 &+ 1, 60_000))
    }
}
