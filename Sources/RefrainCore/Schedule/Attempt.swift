// SPDX-License-Identifier: Apache-2.0
/// One attempt of an operation: its number, and what preceded it.
public struct Attempt: Sendable, Hashable {
    /// The position of this attempt in its call, starting at 1.
    ///
    /// Every attempt counts.
    public let number: Int

    /// The number of attempts that count towards the limit, this one included.
    ///
    /// It is less than ``number`` after a retry that does not count, such as the resumption of a download that made
    /// progress. Limits on the number of attempts compare with this value.
    public let countedAttempts: Int

    /// The delay before this attempt; zero before the first.
    public let previousDelay: Duration

    /// The time left until the deadline when this attempt began; nil without a deadline.
    public let remaining: Duration?

    /// The first attempt of a call.
    public static let first = Attempt(number: 1)

    /// Makes an attempt, for code that is called outside of a running call, such as a test of a strategy.
    ///
    /// - Parameters:
    ///   - number: the position in the call. A number under 1 counts as 1.
    ///   - countedAttempts: the attempts that count towards the limit. Defaults to `number`.
    ///   - previousDelay: the delay before this attempt.
    ///   - remaining: the time left until the deadline.
    @inlinable
    public init(number: Int, countedAttempts: Int? = nil, previousDelay: Duration = .zero, remaining: Duration? = nil) {
        self.number = max(number, 1)
        self.countedAttempts = max(countedAttempts ?? number, 1)
        self.previousDelay = previousDelay
        self.remaining = remaining
    }

    /// Returns the attempt after this one.
    ///
    /// Numbers saturate.
    @inlinable
    func next(after delay: Duration, isFree: Bool, remaining: Duration?) -> Attempt {
        let (number, overflow) = number.addingReportingOverflow(1)
        return Attempt(
            number: overflow ? .max : number,
            countedAttempts: isFree || countedAttempts == .max ? countedAttempts : countedAttempts + 1,
            previousDelay: delay,
            remaining: remaining
        )
    }
}

/// Why an attempt was, or was not, followed by another one.
///
/// A reason is a stable name for logs and metrics. Modules and users add their own as static members.
public struct RetryReason: RawRepresentable, Hashable, Sendable, Codable, CustomStringConvertible {
    /// The stable name, in lower camel case.
    public let rawValue: String

    /// Makes a reason from its stable name.
    @inlinable
    public init(rawValue: String) {
        self.rawValue = rawValue
    }

    /// The stable name.
    public var description: String { rawValue }

    /// The operation succeeded.
    public static let succeeded = RetryReason(rawValue: "succeeded")
    /// The operation threw an error for which the predicate returned true.
    public static let transientError = RetryReason(rawValue: "transientError")
    /// The outcome will not change with another attempt.
    public static let finalOutcome = RetryReason(rawValue: "finalOutcome")
    /// All allowed attempts are used up.
    public static let attemptsUsedUp = RetryReason(rawValue: "attemptsUsedUp")
    /// An inner loop has used up its attempts on this failure, so this one adds none.
    public static let exhaustedWithin = RetryReason(rawValue: "exhaustedWithin")
    /// The next attempt would begin after the deadline.
    public static let deadlineExceeded = RetryReason(rawValue: "deadlineExceeded")
    /// The caller cancelled.
    public static let cancelled = RetryReason(rawValue: "cancelled")
}
