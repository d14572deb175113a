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
