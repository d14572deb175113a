/// How many retries a client may add to what it asks of one backend (rules R22, R23, R25).
///
/// Each first try credits a share of a retry, a fifth by default. Besides, a floor of retries each second is always
/// allowed, so that a client that asks little can retry at all. Credit that is not used is forgotten after a while.
/// So a backend that fails everything sees a bounded multiple of the requests made, however many tries a policy allows.
///
/// The idea is from Finagle, the shape from tower's budget. Amounts are whole micro-retries, and every
/// question is answered in one atomic step.
public final class RetryBudget: Sendable {
    /// What happens to a retry for which there is no credit.
    public enum WhenEmpty: String, Hashable, Sendable, Codable {
        /// The call ends with an error which says that the limit is a local one.
        case fail
        /// The retry waits until it is its turn, if the deadline allows.
        case wait
    }

    /// The answer to a retry that wants to be made.
    public enum Grant: Hashable, Sendable {
        /// The retry is paid for.
        case granted
        /// The retry is paid for, and its turn comes after this time.
        case grantedAfter(Duration)
        /// There is no credit.
        case refused
    }

    /// The retries that each first try credits; 0.2 unless told otherwise.
    public let ratio: Double
    /// The retries that are allowed each second besides; 10 unless told otherwise.
    public let floorPerSecond: Int
    /// What happens when there is no credit; failing unless told otherwise.
    public let whenEmpty: WhenEmpty

    private let account: Locked<BudgetAccount>
    private let clock: ErasedClock

    /// Opens a budget.
    ///
    /// - Parameters:
    ///   - ratio: the retries that each first try credits, 0 … 1.
    ///   - floorPerSecond: the retries that are allowed each second besides, 0 … 1,000,000.
    ///   - window: how long credit lasts, 1 s … 1 h.
    ///   - whenEmpty: what happens when there is no credit.
    ///   - clock: monotonic time.
    /// - Throws: ``InvalidArgument`` for a value out of its range.
    public init(
        ratio: Double = 0.2,
        floorPerSecond: Int = 10,
        window: Duration = .seconds(10),
        whenEmpty: WhenEmpty = .fail,
        clock: ErasedClock = ErasedClock(TimerClock())
    ) throws(InvalidArgument) {
        guard (0...1).contains(ratio) else {
            throw InvalidArgument("ratio", is: ratio, expected: "a number from 0 to 1")
        }
        guard (0...1_000_000).contains(floorPerSecond) else {
            throw InvalidArgument("floorPerSecond", is: floorPerSecond, expected: "a number from 0 to 1000000")
        }
        guard window >= .seconds(1), window <= .seconds(3600) else {
            throw InvalidArgument("window", is: window, expected: "a duration from 1 second to 1 hour")
        }
        self.ratio = ratio
        self.floorPerSecond = floorPerSecond
        self.whenEmpty = whenEmpty
        self.clock = clock
        account = Locked(
            BudgetAccount(
                creditPerTry: Int64((ratio * Double(BudgetAccount.one)).rounded()),
                floorPerSecond: Int64(floorPerSecond),
                window: window.delayInNanoseconds
            )
        )
    }

    /// The budget that each origin has unless told otherwise.
    public static func standard(
        whenEmpty: WhenEmpty = .fail,
        clock: ErasedClock = ErasedClock(TimerClock())
    ) -> RetryBudget {
        RetryBudget(standardWith: whenEmpty, clock: clock)
    }

    private init(standardWith whenEmpty: WhenEmpty, clock: ErasedClock) {
        ratio = 0.2
        floorPerSecond = 10
        self.whenEmpty = whenEmpty
        self.clock = clock
        account = Locked(BudgetAccount(creditPerTry: 200_000, floorPerSecond: 10, window: 10_000_000_000))
    }

    /// Credits a first try.
    public func creditFirstTry() {
        let now = clock.now.offset.delayInNanoseconds
        account.withLock { $0.credit(now: now) }
    }

    /// Pays for one retry, if it can.
    ///
    /// - Parameter longestWait: how long the retry could wait for its turn; nil: as long as it takes.
    public func withdraw(longestWait: Duration? = nil) -> Grant {
        let now = clock.now.offset.delayInNanoseconds
        let mayWait = whenEmpty == .wait
        let limit = mayWait ? (longestWait?.delayInNanoseconds ?? .max) : 0
        guard let wait = account.withLock({ $0.withdraw(now: now, longestWait: limit) }) else { return .refused }
        return wait == 0 ? .granted : .grantedAfter(.nanoseconds(wait))
    }

    /// The retries that could be made now.
    public var balance: Double {
        let now = clock.now.offset.delayInNanoseconds
        return Double(account.withLock { $0.balance(now: now) }) / Double(BudgetAccount.one)
    }
}
