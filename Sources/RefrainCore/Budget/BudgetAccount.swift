/// The arithmetic of a retry budget: amounts are nano-retries, times are nanoseconds.
///
/// There are two purses. Credit comes from first tries, and lies in slices of time that expire one by one. The floor
/// fills steadily up to one second's worth; after it was full it begins to refill a second after it is first drawn
/// on, so that within any stretch of `t` seconds from there it pays for no more than `t` seconds' worth (rule R25 holds
/// from the first second).
struct BudgetAccount {
    /// One retry.
    ///
    /// In this unit a nanosecond brings exactly as much as the floor has retries a second: nothing is rounded.
    static let one: Int64 = 1_000_000_000
    private static let slices = 10
    /// Credit stops here, far above what a client can earn while it lasts.
    private static let highestCredit = Int64.max / 2

    private let creditPerTry: Int64
    private let floorPerSecond: Int64
    private let sliceLength: Int64
    private var credits = [Int64](repeating: 0, count: slices)
    private var currentSlice: Int64 = 0
    private var credit: Int64 = 0

    private var floor: Int64
    private var floorUpdated: Int64 = 0

    init(creditPerTry: Int64, floorPerSecond: Int64, window: Int64) {
        self.creditPerTry = creditPerTry
        self.floorPerSecond = floorPerSecond
        sliceLength = max(1, window / Int64(Self.slices))
        floor = floorPerSecond * Self.one
    }

    private var floorCapacity: Int64 { floorPerSecond * Self.one }

    mutating func credit(now: Int64) {
        advance(to: now)
        let added = min(creditPerTry, Self.highestCredit - credit)
        credits[Int(currentSlice % Int64(Self.slices))] += added
        credit += added
    }

    mutating func balance(now: Int64) -> Int64 {
        advance(to: now)
        return max(0, floor) + credit
    }

    /// Takes one retry; answers the time until its turn, or nil where that would be longer than allowed.
    mutating func withdraw(now: Int64, longestWait: Int64) -> Int64? {
        advance(to: now)
        // Credit goes first, since it expires; the floor pays what is missing, and may go into debt for those who wait.
        let fromCredit = min(credit, Self.one)
        let missing = Self.one - fromCredit
        guard missing > 0 else {
            spendCredit(Self.one)
            return 0
        }
        guard floor < missing else {
            spendCredit(fromCredit)
            drawOnFloor(missing, now: now)
            return 0
        }
        guard floorPerSecond > 0, longestWait > 0 else { return nil }
        let (debt, overflow) = missing.subtractingReportingOverflow(floor)
        guard !overflow else { return nil }
        let refillStart = max(0, floorUpdated - now)
        let (wait, isTooLong) = refillStart.addingReportingOverflow((debt - 1) / floorPerSecond + 1)
        guard !isTooLong, wait <= longestWait else { return nil }
        spendCredit(fromCredit)
        drawOnFloor(missing, now: now)
        return wait
    }

    /// Takes back one retry that was paid for and not made, so that those who come next need not wait for its turn.
    ///
    /// It goes to the floor, whoever paid for it, and no further than that is full: a retry that is not made must not
    /// leave more behind than there could be without it.
    mutating func giveBack(now: Int64) {
        advance(to: now)
        floor = min(floor + Self.one, floorCapacity)
    }

    private mutating func drawOnFloor(_ amount: Int64, now: Int64) {
        if floor == floorCapacity { floorUpdated = now.saturatingAdd(1_000_000_000) }
        floor -= amount
    }

    private mutating func spendCredit(_ amount: Int64) {
        var left = amount
        credit -= amount
        // The oldest slice first.
        for step in 1...Self.slices where left > 0 {
            let index = Int((currentSlice + Int64(step)) % Int64(Self.slices))
            let taken = min(credits[index], left)
            credits[index] -= taken
            left -= taken
        }
    }

    private mutating func advance(to now: Int64) {
        let slice = now / sliceLength
        let steps = min(slice - currentSlice, Int64(Self.slices))
        if steps > 0 {
            for step in 1...steps {
                let index = Int((currentSlice + step) % Int64(Self.slices))
                credit -= credits[index]
                credits[index] = 0
            }
            currentSlice = slice
        }
        let elapsed = now - floorUpdated
        guard elapsed > 0 else { return }
        let (gained, overflow) = elapsed.multipliedReportingOverflow(by: floorPerSecond)
        let (sum, isFull) = floor.addingReportingOverflow(gained)
        floor = overflow || isFull ? floorCapacity : min(sum, floorCapacity)
        floorUpdated = now
    }
}

extension Int64 {
    /// The sum, stopped at the highest number.
    fileprivate func saturatingAdd(_ other: Int64) -> Int64 {
        let (sum, overflow) = addingReportingOverflow(other)
        return overflow ? .max : sum
    }
}
