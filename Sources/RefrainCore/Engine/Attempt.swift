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
