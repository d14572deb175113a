/// How many retries a client may add to what it asks of one backend (rules R22, R23, R25).
///
/// Each first try credits a share of a retry, a fifth by default. Besides, a floor of retries each second is always
/// allowed, so that a client that asks little can retry at all. Credit that is not used is forgotten after a while.
/// So a backend that fails everything sees a bounded multiple of the requests made, however many tries a policy allows.
///
/// ```swift
/// let budget = try RetryBudget(ratio: 0.1, floorPerSecond: 2, whenEmpty: .wait)
/// let loader = Retry(RetryPolicy.recommended, budgets: RetryBudgets { _ in budget }) --> CurlLoader()
/// ```
///
/// The idea is from Finagle, the shape from tower's budget. Amounts are whole nano-retries, and every
/// question is answered in one atomic step. ``tokens(capacity:costs:refund:)`` opens a budget of another form, where a
/// retry has a price by the kind of failure that it answers; callers treat both alike.
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

    /// The retries that each first try credits; 0.2 unless told otherwise, 0 in a budget of tokens.
    public let ratio: Double
    /// The retries that are allowed each second besides; 10 unless told otherwise, 0 in a budget of tokens.
    public let floorPerSecond: Int
    /// What happens when there is no credit; failing unless told otherwise.
    public let whenEmpty: WhenEmpty

    private let books: Books
    private let clock: ErasedClock

    private enum Books {
        case credit(Locked<BudgetAccount>)
        case tokens(Locked<TokenAccount>, costs: Costs, refund: Int)
    }

    /// Opens a budget.
    ///
    /// - Parameters:
    ///   - ratio: the retries that each first try credits, 0 … 1.
    ///   - floorPerSecond: the retries that are allowed each second besides, 0 … 1,000,000.
    ///   - window: how long credit lasts, 1 s … 1 h. It is forgotten in ten steps, after nine to ten tenths of this
    ///     time.
    ///   - whenEmpty: what happens when there is no credit.
    ///   - clock: monotonic time.
    /// - Throws: ``InvalidArgument`` for a value out of its range.
    public convenience init(
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
        self.init(checked: ratio, floorPerSecond, window, whenEmpty, clock)
    }

    /// The budget that each origin has unless told otherwise.
    public static func standard(
        whenEmpty: WhenEmpty = .fail,
        clock: ErasedClock = ErasedClock(TimerClock())
    ) -> RetryBudget {
        RetryBudget(checked: 0.2, 10, .seconds(10), whenEmpty, clock)
    }

    private init(
        checked ratio: Double,
        _ floorPerSecond: Int,
        _ window: Duration,
        _ whenEmpty: WhenEmpty,
        _ clock: ErasedClock
    ) {
        self.ratio = ratio
        self.floorPerSecond = floorPerSecond
        self.whenEmpty = whenEmpty
        self.clock = clock
        let account = BudgetAccount(
            creditPerTry: Int64((ratio * Double(BudgetAccount.one)).rounded()),
            floorPerSecond: Int64(floorPerSecond),
            window: window.delayInNanoseconds
        )
        books = .credit(Locked(account))
    }

    init(_ account: TokenAccount, costs: Costs, refund: Int) {
        ratio = 0
        floorPerSecond = 0
        whenEmpty = .fail
        clock = ErasedClock(TimerClock())
        books = .tokens(Locked(account), costs: costs, refund: refund)
    }

    private var now: Int64 { clock.now.offset.delayInNanoseconds }

    /// Credits a first try; a budget of tokens takes no notice.
    public func creditFirstTry() {
        guard case .credit(let account) = books else { return }
        let now = now
        account.withLock { $0.credit(now: now) }
    }

    /// Credits a call that succeeded; a budget that is no budget of tokens takes no notice.
    ///
    /// - Parameter cause: what the last retry of the call was paid for, so that its cost is given back; nil where the
    ///   first try succeeded.
    public func creditSuccess(after cause: Cause? = nil) {
        guard case .tokens(let account, let costs, let refund) = books else { return }
        account.withLock { $0.refund(cause.map { costs[$0] } ?? refund) }
    }

    /// Pays for one retry, if it can.
    ///
    /// - Parameters:
    ///   - cause: what the retry answers; only in a budget of tokens does the price depend on it.
    ///   - longestWait: how long the retry could wait for its turn; nil: as long as it takes.
    public func withdraw(for cause: Cause = .transient, longestWait: Duration? = nil) -> Grant {
        switch books {
        case .tokens(let account, let costs, _):
            return account.withLock { $0.withdraw(costs[cause]) } ? .granted : .refused
        case .credit(let account):
            let now = now
            let limit = whenEmpty == .wait ? (longestWait?.delayInNanoseconds ?? .max) : 0
            guard let wait = account.withLock({ $0.withdraw(now: now, longestWait: limit) }) else { return .refused }
            return wait == 0 ? .granted : .grantedAfter(.nanoseconds(wait))
        }
    }

    /// Takes back what was paid for a retry that is not made after all, since it was cancelled while it waited.
    package func giveBack(for cause: Cause = .transient) {
        switch books {
        case .tokens(let account, let costs, _):
            account.withLock { $0.refund(costs[cause]) }
        case .credit(let account):
            let now = now
            account.withLock { $0.giveBack(now: now) }
        }
    }

    /// The retries that could be made now; in a budget of tokens those at the price of a transient failure.
    public var balance: Double {
        switch books {
        case .tokens(let account, let costs, _):
            return Double(account.withLock { $0.tokens }) / Double(costs.transient)
        case .credit(let account):
            let now = now
            return Double(account.withLock { $0.balance(now: now) }) / Double(BudgetAccount.one)
        }
    }
}
