// SPDX-License-Identifier: Apache-2.0
/// What a durable queue tells the engine about a call that continues an earlier one.
///
/// The queue asks the engine once for each claim: a wait that is too long for memory ends the call with
/// ``HTTPError/Code/retryAfterTooLong`` and its date, and the queue begins another call then.
package struct DurableCall: Sendable {
    /// The attempts that earlier calls made; the schedule goes on after them.
    package var earlierAttempts: Int
    /// The longest wait in memory; a longer one ends the call with its date.
    package var longestWait: Duration
    /// Whether the caller still owns the request; nothing is sent when it does not.
    package var isOwned: @Sendable () -> Bool

    /// Describes a call.
    package init(earlierAttempts: Int, longestWait: Duration, isOwned: @escaping @Sendable () -> Bool) {
        self.earlierAttempts = max(0, earlierAttempts)
        self.longestWait = longestWait
        self.isOwned = isOwned
    }

    /// Returns an attempt of this call, counted from the first one of the earlier calls.
    func continuing(_ attempt: Attempt) -> Attempt {
        Attempt(
            number: earlierAttempts.addingSaturated(attempt.number),
            countedAttempts: earlierAttempts.addingSaturated(attempt.countedAttempts),
            previousDelay: attempt.previousDelay,
            remaining: attempt.remaining
        )
    }

    /// Returns a decision to retry as one that ends the call, with the date at which another call may follow.
    func later(_ decision: RetryDecision, after delay: Duration, now: WallClock.Instant) -> RetryDecision {
        var later = decision
        later.action = .retryAfterTooLong(until: now.advanced(by: delay))
        return later
    }
}

private enum DurableCallOption: HTTPRequestOption {
    static let defaultValue: DurableCall? = nil
}

extension HTTPRequest {
    /// Set on requests that a durable queue sends.
    package var durableCall: DurableCall? {
        get { self[option: DurableCallOption.self] }
        set { self[option: DurableCallOption.self] = newValue }
    }
}
