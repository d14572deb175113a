// SPDX-License-Identifier: Apache-2.0
/// Limits the retries of a client to one backend (rules R22, R23, R25).
///
/// Each first attempt deposits a share of a retry, a fifth by default. In addition a minimum of retries per second is
/// always allowed, so that a client with few requests can retry at all. Deposits expire after a while. A backend that
/// fails everything therefore receives a bounded multiple of the requests, however many attempts a policy allows.
///
/// ```swift
/// let budget = RetryBudget(
///     ratio: 0.1, minimumRetriesPerSecond: 2, whenEmpty: .wait
/// )
/// let retry = Retry(
///     RetryPolicy.recommended,
///     budgets: Retry.Budgets { _ in budget }
/// )
/// let loader = retry --> PlatformLoader()
/// ```
///
/// Amounts are integers, in billionths of a retry, and every call is one atomic step.
/// ``tokens(capacity:costs:refund:)`` makes a budget of another form, where the cost of a retry depends on the kind of
/// failure. ``fleet(ratio:minimumRetriesPerSecond:window:clock:random:)`` is for many processes that share a backend.
public final class RetryBudget: Sendable {
    /// What happens to a retry that the budget does not cover.
    public enum WhenEmpty: String, Hashable, Sendable, Codable {
        /// The call ends with its last outcome and the reason `budgetExhausted`.
        case fail
        /// The retry waits until the budget covers it, within the deadline.
        case wait
    }

    /// The result of a withdrawal.
    public enum Withdrawal: Hashable, Sendable {
        /// The retry is covered.
        case granted
        /// The retry is covered after this time.
        case grantedAfter(Duration)
        /// The retry is not covered.
        case refused
    }

    /// What covered a retry, or why nothing did; `AttemptRecord` has it.
    public enum Credit: String, Hashable, Sendable, Codable {
        /// Deposits of first attempts covered it.
        case deposit
        /// The minimum of retries per second covered it, or what deposits left of it.
        case floor
        /// It was granted by chance (rule R32).
        ///
        /// After a refusal the time that the origin has been failing decides, otherwise deposits of less than the cost.
        case chance
        /// Tokens covered it.
        case tokens
        /// Nothing: deposits and minimum, or tokens, are used up.
        case empty
        /// Nothing, because the origin keeps failing and chance did not grant the retry (rule R32).
        ///
        /// It has been failing for too long, or its timeouts are many.
        case closed

        /// Whether the retry was covered.
        public var isGranted: Bool { self != .empty && self != .closed }
    }

    /// A retry that is wanted: what it follows, and how long it waits.
    package struct WantedRetry {
        /// The kind of failure that it follows.
        package var cause: Cause
        /// Whether the server named the time to come back at.
        package var namesTime = false
        /// How long the failed attempt took.
        package var duration = Duration.zero
        /// How long the retry waits.
        package var delay = Duration.zero
        /// The call, where the caller has named the number of its attempts.
        package var call: Call?

        /// Makes a retry that follows a failure at once.
        package init(after cause: Cause) { self.cause = cause }
    }

    /// The identity of a call, which its owner keeps until it ends.
    package final class Call: Sendable {
        package init() {}
    }

    /// The retries that each first attempt deposits.
    ///
    /// Defaults to 0.2; 0 in a budget of tokens.
    public let ratio: Double
    /// The retries that are allowed per second in addition.
    ///
    /// Defaults to 10; 0 in a budget of tokens.
    public let minimumRetriesPerSecond: Int
    /// What happens to a retry that the budget does not cover.
    ///
    /// Defaults to ``WhenEmpty-swift.enum/fail``.
    public let whenEmpty: WhenEmpty

    private let storage: Storage
    private let clock: AnyClock

    private enum Storage {
        case window(Locked<SlidingWindowBudget>)
        case tokens(Locked<TokenBucket>, costs: Costs, refund: Int)
        case fleet(Locked<FleetBudget>, RandomSource)
    }

    /// Makes a budget.
    ///
    /// Values out of range are clamped; ``validated(ratio:minimumRetriesPerSecond:window:whenEmpty:clock:)`` throws
    /// instead.
    ///
    /// - Parameters:
    ///   - ratio: the retries that each first attempt deposits, 0 … 1. NaN counts as 0.
    ///   - minimumRetriesPerSecond: the retries that are allowed per second in addition, 0 … 1,000,000. They accrue
    ///     steadily, up to those of one second.
    ///   - window: how long a deposit lasts, 1 s … 1 h. It expires after nine to ten tenths of this time.
    ///   - whenEmpty: what happens to a retry that the budget does not cover.
    ///   - clock: the monotonic clock.
    public init(
        ratio: Double = 0.2,
        minimumRetriesPerSecond: Int = 10,
        window: Duration = .seconds(10),
        whenEmpty: WhenEmpty = .fail,
        clock: some Clock<Duration> = TimerClock()
    ) {
        self.ratio = Self.clampedRatio(ratio)
        self.minimumRetriesPerSecond = Self.clampedMinimum(minimumRetriesPerSecond)
        self.whenEmpty = whenEmpty
        self.clock = AnyClock(clock)
        let minimum = self.minimumRetriesPerSecond
        storage = .window(Locked(SlidingWindowBudget(ratio: self.ratio, minimumPerSecond: minimum, window: window)))
    }

    static func clampedRatio(_ ratio: Double) -> Double { ratio > 0 ? min(ratio, 1) : 0 }

    static func clampedMinimum(_ retries: Int) -> Int { min(max(retries, 0), 1_000_000) }

    /// Makes a budget of values from outside the program.
    ///
    /// The parameters are those of ``init(ratio:minimumRetriesPerSecond:window:whenEmpty:clock:)``.
    ///
    /// - Throws: ``InvalidArgument`` for a value out of its range.
    public static func validated(
        ratio: Double = 0.2,
        minimumRetriesPerSecond: Int = 10,
        window: Duration = .seconds(10),
        whenEmpty: WhenEmpty = .fail,
        clock: some Clock<Duration> = TimerClock()
    ) throws(InvalidArgument) -> RetryBudget {
        guard (0...1).contains(ratio) else {
            throw InvalidArgument("ratio", is: ratio, expected: "a number from 0 to 1")
        }
        guard (0...1_000_000).contains(minimumRetriesPerSecond) else {
            throw InvalidArgument(
                "minimumRetriesPerSecond",
                is: minimumRetriesPerSecond,
                expected: "a number from 0 to 1000000"
            )
        }
        guard window >= .seconds(1), window <= .seconds(3600) else {
            throw InvalidArgument("window", is: window, expected: "a duration from 1 second to 1 hour")
        }
        return RetryBudget(
            ratio: ratio,
            minimumRetriesPerSecond: minimumRetriesPerSecond,
            window: window,
            whenEmpty: whenEmpty,
            clock: clock
        )
    }

    init(_ bucket: TokenBucket, costs: Costs, refund: Int) {
        ratio = 0
        minimumRetriesPerSecond = 0
        whenEmpty = .fail
        clock = AnyClock(TimerClock())
        storage = .tokens(Locked(bucket), costs: costs, refund: refund)
    }

    init(_ budget: FleetBudget, ratio: Double, minimum: Int, clock: AnyClock, random: RandomSource) {
        self.ratio = ratio
        minimumRetriesPerSecond = minimum
        whenEmpty = .fail
        self.clock = clock
        storage = .fleet(Locked(budget), random)
    }

    private var now: Int64 { clock.now.offset.delayInNanoseconds }

    /// Deposits the share of a first attempt.
    ///
    /// Does nothing in a budget of tokens.
    public func deposit() {
        let now = now
        switch storage {
        case .tokens: break
        case .window(let budget): budget.withLock { $0.deposit(now: now) }
        case .fleet(let budget, _): budget.withLock { $0.window.deposit(now: now) }
        }
    }

    /// Notes a call that succeeded: in a budget of tokens it deposits, in one for a fleet it counts as an outcome.
    ///
    /// - Parameter cause: the cause of the call's last retry, whose cost is returned; nil where the first attempt
    ///   succeeded.
    public func depositSuccess(after cause: Cause? = nil) {
        switch storage {
        case .window: break
        case .tokens(let bucket, let costs, let refund):
            bucket.withLock { $0.refund(cause.map { costs[$0] } ?? refund) }
        case .fleet(let budget, _): budget.withLock { $0.noteSuccess() }
        }
    }

    /// Withdraws the cost of one retry, if the budget covers it.
    ///
    /// - Parameters:
    ///   - cause: the cause of the retry. In a budget of tokens the cost depends on it, in one for a fleet the sources.
    ///   - longestWait: how long the retry can wait where the budget waits; nil: no limit.
    public func withdraw(for cause: Cause = .transient, longestWait: Duration? = nil) -> Withdrawal {
        covered(WantedRetry(after: cause), longestWait: longestWait).withdrawal
    }

    /// Withdraws the cost of one retry, and returns what covered it or why nothing did.
    package func covered(
        _ retry: WantedRetry,
        longestWait: Duration? = nil
    ) -> (withdrawal: Withdrawal, credit: Credit) {
        func answer(_ credit: Credit, after wait: Int64 = 0) -> (Withdrawal, Credit) {
            guard credit.isGranted else { return (.refused, credit) }
            return (wait == 0 ? .granted : .grantedAfter(.nanoseconds(wait)), credit)
        }
        let limit = longestWait?.delayInNanoseconds ?? .max
        switch storage {
        case .tokens(let bucket, let costs, _):
            return answer(bucket.withLock { $0.withdraw(costs[retry.cause]) } ? .tokens : .empty)
        case .fleet(let budget, let random):
            let (now, chance) = (now, random.unit())
            let covered = budget.withLock { $0.withdraw(for: retry, now: now, chance: chance, longestWait: limit) }
            return answer(covered.credit, after: covered.wait)
        case .window(let budget):
            let now = now
            guard whenEmpty == .wait else { return answer(budget.withLock { $0.cover(now: now) }) }
            return budget.withLock { budget in
                let isDeposited = budget.depositBalance(now: now) >= SlidingWindowBudget.one
                guard let wait = budget.withdraw(now: now, longestWait: limit) else { return (.refused, .empty) }
                return answer(isDeposited ? .deposit : .floor, after: wait)
            }
        }
    }

    /// What would cover a retry now, and with which chance it would; nothing is withdrawn.
    package func preview(_ retry: WantedRetry) -> (credit: Credit, chance: Double) {
        let now = now
        switch storage {
        case .tokens(let bucket, let costs, _):
            return bucket.withLock { $0.tokens >= costs[retry.cause] } ? (.tokens, 1) : (.empty, 0)
        case .window(let budget):
            var copy = budget.withLock { $0 }
            let credit = copy.cover(now: now)
            return (credit, credit.isGranted ? 1 : 0)
        case .fleet(let budget, _):
            var copy = budget.withLock { $0 }
            let answer = copy.withdraw(for: retry, now: now, chance: 0)
            return (answer.credit, answer.credit.isGranted ? answer.likelihood : 0)
        }
    }

    /// Returns the cost of a retry that was cancelled before it was sent.
    package func refund(for cause: Cause = .transient) {
        switch storage {
        case .tokens(let bucket, let costs, _):
            bucket.withLock { $0.refund(costs[cause]) }
        case .window(let budget):
            let now = now
            budget.withLock { $0.refund(now: now) }
        case .fleet(let budget, _):
            let now = now
            budget.withLock { $0.window.refund(now: now) }
        }
    }

    /// The retries that the budget covers now; in a budget of tokens, those at the cost of a transient failure.
    public var balance: Double {
        switch storage {
        case .tokens(let bucket, let costs, _):
            return Double(bucket.withLock { $0.tokens }) / Double(costs.transient)
        case .window(let budget):
            let now = now
            return Double(budget.withLock { $0.balance(now: now) }) / Double(SlidingWindowBudget.one)
        case .fleet(let budget, _):
            let now = now
            return Double(budget.withLock { $0.balance(now: now) }) / Double(SlidingWindowBudget.one)
        }
    }
}

extension RetryBudget {
    /// The kind of failure that a retry follows, as far as its cost is concerned.
    public enum Cause: String, Hashable, Sendable, Codable, CaseIterable {
        /// A failure of neither of the other kinds.
        case transient
        /// The attempt timed out. A retry adds load to a server that is already slow.
        case timeout
        /// The server asked for fewer requests.
        case throttled
        /// The server was unavailable, as a status of 503 says; in a budget of tokens it costs what ``transient`` does.
        case unavailable
    }

    /// The cost of a retry in tokens, by its cause.
    public struct Costs: Hashable, Sendable, Codable {
        /// The cost after a failure that is neither a timeout nor throttling.
        ///
        /// Defaults to 5.
        public var transient: Int
        /// The cost after a timeout.
        ///
        /// Defaults to 10.
        public var timeout: Int
        /// The cost after the server asked for fewer requests.
        ///
        /// Defaults to 5.
        public var throttled: Int

        /// Makes the costs.
        public init(transient: Int = 5, timeout: Int = 10, throttled: Int = 5) {
            self.transient = transient
            self.timeout = timeout
            self.throttled = throttled
        }

        /// The cost of a retry with this cause.
        public subscript(cause: Cause) -> Int {
            switch cause {
            case .transient, .unavailable: transient
            case .timeout: timeout
            case .throttled: throttled
            }
        }

        /// These costs, each clamped to 1 … `capacity`.
        fileprivate func clamped(to capacity: Int) -> Costs {
            func clamp(_ cost: Int) -> Int { min(max(cost, 1), capacity) }
            return Costs(transient: clamp(transient), timeout: clamp(timeout), throttled: clamp(throttled))
        }
    }

    private static let capacities = 1...1_000_000_000

    /// Makes a budget of tokens, like the retry quota of the AWS SDKs: retries withdraw tokens, successes return them.
    ///
    /// It starts full. A retry withdraws its cost, and is refused where fewer tokens are left; a call that succeeds
    /// returns the cost of its last retry, or `refund` where it made none. Tokens do not accrue with time, so no retry
    /// can wait for them: ``whenEmpty-swift.property`` is ``WhenEmpty-swift.enum/fail``. Unlike the ratio form it does
    /// not bound the load on a backend that fails only some of its requests; in return each kind of failure has its
    /// own cost.
    ///
    /// - Parameters:
    ///   - capacity: the tokens of a full budget, clamped to 1 … 1,000,000,000.
    ///   - costs: the costs of a retry, each clamped to 1 … `capacity`.
    ///   - refund: what a call returns that succeeds at its first attempt, clamped to 0 … `capacity`.
    public static func tokens(capacity: Int = 500, costs: Costs = Costs(), refund: Int = 1) -> RetryBudget {
        let capacity = min(max(capacity, capacities.lowerBound), capacities.upperBound)
        return RetryBudget(
            TokenBucket(capacity: capacity),
            costs: costs.clamped(to: capacity),
            refund: min(max(refund, 0), capacity)
        )
    }

    /// Makes a budget of tokens of values from outside the program.
    ///
    /// The parameters are those of ``tokens(capacity:costs:refund:)``.
    ///
    /// - Throws: ``InvalidArgument`` for a value out of its range.
    public static func validatedTokens(
        capacity: Int = 500,
        costs: Costs = Costs(),
        refund: Int = 1
    ) throws(InvalidArgument) -> RetryBudget {
        guard capacities.contains(capacity) else {
            throw InvalidArgument("capacity", is: capacity, expected: "a number from 1 to 1000000000")
        }
        for cause in Cause.allCases where !(1...capacity).contains(costs[cause]) {
            throw InvalidArgument(
                "costs.\(cause.rawValue)",
                is: costs[cause],
                expected: "a number from 1 to the capacity, \(capacity)"
            )
        }
        guard (0...capacity).contains(refund) else {
            throw InvalidArgument("refund", is: refund, expected: "a number from 0 to the capacity, \(capacity)")
        }
        return tokens(capacity: capacity, costs: costs, refund: refund)
    }
}

/// The arithmetic of a budget of tokens: retries withdraw, successes return.
struct TokenBucket {
    private let capacity: Int
    private(set) var tokens: Int

    init(capacity: Int) {
        self.capacity = capacity
        tokens = capacity
    }

    /// Withdraws the cost of one retry.
    ///
    /// Returns false, and withdraws nothing, where fewer tokens are left.
    mutating func withdraw(_ cost: Int) -> Bool {
        guard cost <= tokens else { return false }
        tokens -= cost
        return true
    }

    /// Returns tokens, up to the capacity.
    mutating func refund(_ amount: Int) {
        tokens += min(amount, capacity - tokens)
    }
}
