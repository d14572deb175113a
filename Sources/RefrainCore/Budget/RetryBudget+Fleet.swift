extension RetryBudget {
    /// Makes a budget for processes that share a backend with many others (rule R32).
    ///
    /// In a fleet the limits of each process add up: 10 retries a second in each of 1,000 processes limit nothing. This
    /// budget therefore closes the minimum per second to a retry after a timeout, 429, 503 or an answer that names a
    /// time to come back, where more than 4 of the last 20 outcomes are of these kinds, or where too many of them have
    /// come in a row: more than one where the last is a timeout, more than 3 where it is another. A success ends the
    /// row. Such a retry is paid for by deposits alone and costs four, and a credit below that covers it by chance, so
    /// that all processes together retry a twentieth of their calls. Retries after other failures, such as a lost
    /// connection, may use the minimum at all times.
    ///
    /// ``standard(whenEmpty:clock:random:)`` is the same, except that of the last 20 outcomes only timeouts count, and
    /// 429 not at all. This one is for backends that answer 503 or 429 under load; its price is paid by a process that
    /// is alone: where more than 4 in 20 of its calls are answered so, most of its retries are refused.
    /// Documentation/Storms.md has the figures.
    ///
    /// Values out of range are clamped.
    ///
    /// - Parameters:
    ///   - ratio: the retries that each first attempt deposits, 0 … 1. Defaults to 0.2.
    ///   - minimumRetriesPerSecond: the retries that are allowed per second while overload is rare, 0 … 1,000,000.
    ///     Defaults to 10.
    ///   - window: how long a deposit lasts, 1 s … 1 h. Defaults to 10 s.
    ///   - clock: the monotonic clock.
    ///   - random: the source of chance.
    public static func fleet(
        ratio: Double = 0.2,
        minimumRetriesPerSecond: Int = 10,
        window: Duration = .seconds(10),
        clock: some Clock<Duration> = TimerClock(),
        random: RandomSource = .shared
    ) -> RetryBudget {
        let ratio = clampedRatio(ratio)
        let minimum = clampedMinimum(minimumRetriesPerSecond)
        let budget = FleetBudget(
            SlidingWindowBudget(ratio: ratio, minimumPerSecond: minimum, window: window),
            counting: [.timeout, .throttled, .unavailable]
        )
        return RetryBudget(budget, ratio: ratio, minimum: minimum, clock: AnyClock(clock), random: random)
    }

    /// Makes a budget with the defaults: the one that each origin has unless another one is given.
    ///
    /// It deposits a fifth of a retry for each first attempt, and allows 10 retries per second besides. In a fleet of
    /// processes that minimum limits nothing (rule R32). It is therefore closed to a retry after a timeout where the
    /// outcome before was a timeout or a 503 as well, or where more than 4 of the last 20 outcomes are timeouts, and to
    /// one after the fourth 503 in a row, or a later one. Such a retry is paid for by deposits alone and costs four; a
    /// credit below that covers it by chance. A success ends the row. Other failures may use the minimum at all times.
    ///
    /// - Parameters:
    ///   - whenEmpty: what happens to a retry that the budget does not cover. A budget that waits spreads its retries;
    ///     its minimum is always there.
    ///   - clock: the monotonic clock.
    ///   - random: the source of chance.
    public static func standard(
        whenEmpty: WhenEmpty = .fail,
        clock: some Clock<Duration> = TimerClock(),
        random: RandomSource = .shared
    ) -> RetryBudget {
        guard whenEmpty == .fail else { return RetryBudget(whenEmpty: whenEmpty, clock: clock) }
        let budget = FleetBudget(
            SlidingWindowBudget(ratio: 0.2, minimumPerSecond: 10, window: .seconds(10)),
            counting: [.timeout]
        )
        return RetryBudget(budget, ratio: 0.2, minimum: 10, clock: AnyClock(clock), random: random)
    }
}

/// The arithmetic of a budget that holds in one process and in a fleet (rule R32).
///
/// A minimum of retries per second in each of 10,000 processes is no limit, and a fifth of a retry for each call never
/// adds up to one in a process that makes few calls. Here the minimum is there only while failures that show overload
/// are rare, and credit below one retry is spent by chance. Where it is closed, a retry costs four: a twentieth of the
/// calls is retried then, and not a fifth.
struct FleetBudget {
    /// The deposits and the minimum.
    var window: SlidingWindowBudget
    private var outcomes = OutcomeHistory()
    private let counted: Set<RetryBudget.Cause>

    /// - Parameter counted: the causes of which a few among the last outcomes close the minimum. A timeout or a 503
    ///   closes it in any case where enough of them come in a row.
    init(_ window: SlidingWindowBudget, counting counted: Set<RetryBudget.Cause>) {
        self.window = window
        self.counted = counted
    }

    /// What a retry costs where the minimum is closed, in retries.
    static let closedCost: Int64 = 4

    /// Withdraws one retry; returns what covered it, or why nothing did, and how likely that was.
    ///
    /// - Parameter chance: a number from 0 up to 1.
    mutating func withdraw(
        for cause: RetryBudget.Cause,
        now: Int64,
        chance: Double
    ) -> (credit: RetryBudget.Credit, likelihood: Double) {
        // What shows no overload, such as a refused connection, costs the backend next to nothing.
        guard let longestStreak = longestStreak(of: cause) else { return Self.certain(window.cover(now: now)) }
        outcomes.noteOverload(isCounted: counted.contains(cause))
        let areMany = counted.contains(cause) && outcomes.areMany
        let isOpen = !areMany && outcomes.streak <= longestStreak
        if isOpen {
            let credit = window.cover(now: now)
            if credit.isGranted { return Self.certain(credit) }
        }
        let cost = isOpen ? SlidingWindowBudget.one : SlidingWindowBudget.one * Self.closedCost
        let likelihood = min(Double(window.depositBalance(now: now)) / Double(cost), 1)
        guard window.withdrawDeposits(cost, now: now, chance: chance) else {
            return (isOpen ? .empty : .closed, likelihood)
        }
        return (likelihood == 1 ? .deposit : .chance, likelihood)
    }

    private static func certain(_ credit: RetryBudget.Credit) -> (credit: RetryBudget.Credit, likelihood: Double) {
        (credit, credit.isGranted ? 1 : 0)
    }

    /// How many signs of overload may come in a row before the minimum is closed to one of this kind; nil: it is none.
    ///
    /// Two timeouts in a row are rare where timeouts come by accident, and a retry after the second one keeps a server
    /// down that is slow. A 503 is cheap: a call may use up its attempts, and the next one may try once more.
    private func longestStreak(of cause: RetryBudget.Cause) -> Int? {
        switch cause {
        case .timeout: 1
        case .unavailable: 3
        case .throttled: counted.contains(cause) ? 3 : nil
        case .transient: nil
        }
    }

    mutating func noteSuccess() { outcomes.noteSuccess() }

    mutating func balance(now: Int64) -> Int64 {
        !outcomes.areMany && outcomes.streak == 0 ? window.balance(now: now) : window.depositBalance(now: now)
    }
}

/// The last outcomes of a process, however long they took to come: one bit each.
struct OutcomeHistory {
    /// How many outcomes are remembered.
    static let length = 20
    /// Up to this many failures among them are rare.
    ///
    /// With independent failures of 5 %, 20 outcomes have more than that in 0.3 % of cases.
    static let maximumFailures = 4

    private var failures: UInt32 = 0
    /// The signs of overload since the last success.
    private(set) var streak = 0

    /// Notes a sign of overload; one that is counted takes the place of the outcome ``length`` outcomes before it.
    mutating func noteOverload(isCounted: Bool) {
        streak = streak.addingSaturated(1)
        if isCounted { shift(in: 1) }
    }

    mutating func noteSuccess() {
        streak = 0
        shift(in: 0)
    }

    private mutating func shift(in bit: UInt32) {
        failures = (failures << 1 | bit) & (1 << UInt32(Self.length) - 1)
    }

    var areMany: Bool { failures.nonzeroBitCount > Self.maximumFailures }
}
