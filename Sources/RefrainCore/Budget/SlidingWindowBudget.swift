// SPDX-License-Identifier: Apache-2.0
/// The arithmetic of a retry budget.
///
/// Amounts are in billionths of a retry, times in nanoseconds.
///
/// There are two sources. Deposits come from first attempts, and are kept in slices of time that expire one by one. The
/// minimum accrues steadily, up to one second's worth. When it is full and is drawn on, it begins to accrue again one
/// second later, so that within any `t` seconds it pays for no more than `t` seconds' worth (rule R25 holds from the
/// first second on).
struct SlidingWindowBudget {
    /// One retry.
    ///
    /// In this unit the minimum accrues per nanosecond exactly as much as it has retries per second, without rounding.
    static let one: Int64 = 1_000_000_000
    private static let sliceCount = Slices.count
    /// Deposits stop here, far above what a client can deposit within the window.
    private static let highestDeposits = Int64.max / 2

    private let depositPerAttempt: Int64
    private let minimumPerSecond: Int64
    private let sliceLength: Int64
    private var slices = Slices()
    private var currentSlice: Int64 = 0
    /// The sum of the slices.
    private var deposits: Int64 = 0

    /// What is left of the minimum; negative where retries wait for it.
    private var minimum: Int64
    private var minimumUpdated: Int64 = 0

    init(deposit: Int64, minimumPerSecond: Int64, window: Int64) {
        depositPerAttempt = deposit
        self.minimumPerSecond = minimumPerSecond
        sliceLength = max(1, window / Int64(Self.sliceCount))
        minimum = minimumPerSecond * Self.one
    }

    /// Makes the arithmetic of a budget; the window is clamped to 1 s … 1 h.
    init(ratio: Double, minimumPerSecond: Int, window: Duration) {
        self.init(
            deposit: Int64((ratio * Double(Self.one)).rounded()),
            minimumPerSecond: Int64(minimumPerSecond),
            window: min(max(window, .seconds(1)), .seconds(3600)).delayInNanoseconds
        )
    }

    private var minimumCapacity: Int64 { minimumPerSecond * Self.one }

    /// Deposits the share of a first attempt.
    mutating func deposit(now: Int64) {
        advance(to: now)
        let added = min(depositPerAttempt, Self.highestDeposits - deposits)
        slices[Int(currentSlice % Int64(Self.sliceCount))] += added
        deposits += added
    }

    /// Returns what the budget covers now.
    mutating func balance(now: Int64) -> Int64 {
        advance(to: now)
        return max(0, minimum) + max(0, deposits)
    }

    /// Returns what the deposits cover now.
    mutating func depositBalance(now: Int64) -> Int64 {
        advance(to: now)
        return max(0, deposits)
    }

    /// Withdraws one retry.
    ///
    /// Returns the time until the budget covers it, or nil where that is longer than allowed.
    mutating func withdraw(now: Int64, longestWait: Int64) -> Int64? {
        advance(to: now)
        // Deposits first, since they expire. The minimum pays the rest, and goes into debt for retries that wait.
        let fromDeposits = min(max(0, deposits), Self.one)
        let missing = Self.one - fromDeposits
        guard missing > 0 else {
            spendDeposits(Self.one)
            return 0
        }
        guard minimum < missing else {
            spendDeposits(fromDeposits)
            spendMinimum(missing, now: now)
            return 0
        }
        guard minimumPerSecond > 0, longestWait > 0 else { return nil }
        let (debt, overflow) = missing.subtractingReportingOverflow(minimum)
        guard !overflow else { return nil }
        let accrualStart = max(0, minimumUpdated - now)
        let (wait, isTooLong) = accrualStart.addingReportingOverflow((debt - 1) / minimumPerSecond + 1)
        guard !isTooLong, wait <= longestWait else { return nil }
        spendDeposits(fromDeposits)
        spendMinimum(missing, now: now)
        return wait
    }

    /// Withdraws one retry that does not wait, and returns what covered it.
    mutating func cover(now: Int64) -> RetryBudget.Credit {
        let isDeposited = depositBalance(now: now) >= Self.one
        guard withdraw(now: now, longestWait: 0) != nil else { return .empty }
        return isDeposited ? .deposit : .floor
    }

    /// Withdraws the cost of one retry from the deposits alone; a credit below it covers it by chance.
    ///
    /// A retry that chance has covered leaves a debt, which deposits pay back and which expires as they do: within a
    /// window there is at most one retry more than was deposited for.
    ///
    /// - Parameter chance: a number from 0 up to 1; deposits of `d` cover a cost of `c` where it is under `d / c`.
    mutating func withdrawDeposits(_ cost: Int64, now: Int64, chance: Double) -> Bool {
        advance(to: now)
        guard chance < Double(deposits) / Double(cost) else { return false }
        let covered = min(deposits, cost)
        spendDeposits(covered)
        let debt = cost - covered
        slices[Int(currentSlice % Int64(Self.sliceCount))] -= debt
        deposits -= debt
        return true
    }

    /// Returns the cost of a retry that was not sent.
    ///
    /// It goes to the minimum, whichever source paid, up to its capacity: a retry that is not sent must not leave more
    /// in the budget than there would be without it.
    mutating func refund(now: Int64) {
        advance(to: now)
        minimum = min(minimum + Self.one, minimumCapacity)
    }

    private mutating func spendMinimum(_ amount: Int64, now: Int64) {
        if minimum == minimumCapacity { minimumUpdated = now.addingSaturated(1_000_000_000) }
        minimum -= amount
    }

    private mutating func spendDeposits(_ amount: Int64) {
        var left = amount
        deposits -= amount
        // The oldest slice first.
        for step in 1...Self.sliceCount where left > 0 {
            let index = Int((currentSlice + Int64(step)) % Int64(Self.sliceCount))
            let taken = min(slices[index], left)
            slices[index] -= taken
            left -= taken
        }
    }

    private mutating func advance(to now: Int64) {
        let slice = now / sliceLength
        let steps = min(slice - currentSlice, Int64(Self.sliceCount))
        if steps > 0 {
            for step in 1...steps {
                let index = Int((currentSlice + step) % Int64(Self.sliceCount))
                deposits -= slices[index]
                slices[index] = 0
            }
            currentSlice = slice
        }
        let elapsed = now - minimumUpdated
        guard elapsed > 0 else { return }
        let (gained, overflow) = elapsed.multipliedReportingOverflow(by: minimumPerSecond)
        let (sum, isFull) = minimum.addingReportingOverflow(gained)
        minimum = overflow || isFull ? minimumCapacity : min(sum, minimumCapacity)
        minimumUpdated = now
    }
}

/// Ten amounts, in place: a budget in each of a million simulated processes has no room for an array.
struct Slices {
    static let count = 10

    private typealias Storage = (Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64, Int64)

    private var storage: Storage = (0, 0, 0, 0, 0, 0, 0, 0, 0, 0)

    /// The amount at an index, which is taken modulo ``count``.
    subscript(index: Int) -> Int64 {
        get {
            withUnsafeBytes(of: storage) { $0.load(fromByteOffset: Self.offset(of: index), as: Int64.self) }
        }
        set {
            withUnsafeMutableBytes(of: &storage) {
                $0.storeBytes(of: newValue, toByteOffset: Self.offset(of: index), as: Int64.self)
            }
        }
    }

    private static func offset(of index: Int) -> Int { (index % count + count) % count * MemoryLayout<Int64>.stride }
}
