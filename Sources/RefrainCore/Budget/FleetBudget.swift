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
    static let mostFailures = 4

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

    var areMany: Bool { failures.nonzeroBitCount > Self.mostFailures }
}
