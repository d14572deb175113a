/// One try of an operation, as the operation and its decider see it.
public struct Attempt: Sendable, Hashable {
    /// The position of this attempt in its call.
    ///
    /// It is 1 for the first. Every attempt counts here.
    public let number: Int

    /// How many tries the call has used up, this one included.
    ///
    /// It falls behind ``number`` where a retry was free: a resumed download that made progress, a redirect.
    /// Limits on the number of tries compare with this value.
    public let tries: Int

    /// The wait before this attempt; zero before the first.
    public let previousDelay: Duration

    /// The time that was left until the deadline when this attempt began, or nil if there is no deadline.
    public let remaining: Duration?

    /// The first attempt of a call.
    public static let first = Attempt(number: 1)

    /// Makes an attempt, for deciders that are asked outside of a running call.
    ///
    /// Numbers under 1 count as 1.
    @inlinable
    public init(number: Int, tries: Int? = nil, previousDelay: Duration = .zero, remaining: Duration? = nil) {
        self.number = max(number, 1)
        self.tries = max(tries ?? number, 1)
        self.previousDelay = previousDelay
        self.remaining = remaining
    }

    /// The attempt after this one; numbers saturate.
    @inlinable
    func next(after delay: Duration, isFree: Bool, remaining: Duration?) -> Attempt {
        let (number, overflow) = number.addingReportingOverflow(1)
        return Attempt(
            number: overflow ? .max : number,
            tries: isFree || tries == .max ? tries : tries + 1,
            previousDelay: delay,
            remaining: remaining
        )
    }
}
