/// The arithmetic of a budget that holds in one process and in a fleet (rule R32).
///
/// A minimum of retries per second in each of 10,000 processes is no limit, and a fifth of a retry for each call never
/// adds up to one in a process that makes few calls. Here the minimum is there only while failures that show overload
/// are rare, and credit below one retry is spent by chance.
struct FleetBudget {
    /// The deposits and the minimum.
    var window: SlidingWindowBudget
    private var outcomes = OutcomeHistory()
    private let overload: Set<RetryBudget.Cause>

    /// - Parameter overload: the causes that show overload.
    init(_ window: SlidingWindowBudget, overload: Set<RetryBudget.Cause>) {
        self.window = window
        self.overload = overload
    }

    /// Withdraws one retry.
    ///
    /// - Parameter chance: a number from 0 up to 1.
    mutating func withdraw(for cause: RetryBudget.Cause, now: Int64, chance: Double) -> Bool {
        // What shows no overload, such as a refused connection, costs the backend next to nothing.
        guard overload.contains(cause) else { return window.withdraw(now: now, longestWait: 0) != nil }
        outcomes.note(isFailure: true)
        if outcomes.failuresAreRare, window.withdraw(now: now, longestWait: 0) != nil { return true }
        return window.withdrawDeposits(now: now, chance: chance)
    }

    mutating func noteSuccess() { outcomes.note(isFailure: false) }

    mutating func balance(now: Int64) -> Int64 {
        outcomes.failuresAreRare ? window.balance(now: now) : window.depositBalance(now: now)
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

    /// Notes an outcome, and forgets the one that came ``length`` outcomes before it.
    mutating func note(isFailure: Bool) {
        failures = (failures << 1 | (isFailure ? 1 : 0)) & (1 << UInt32(Self.length) - 1)
    }

    var failuresAreRare: Bool { failures.nonzeroBitCount <= Self.mostFailures }
}
