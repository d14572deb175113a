/// Assigns slots to waiters in order of arrival: takes events, returns the waiters to admit.
///
/// Waiters are ordered by number. A waiter that leaves early leaves a gap in the numbers, which is skipped.
struct ThrottleQueue<Waiter> {
    /// The result of an arrival.
    enum Arrival: Equatable {
        /// The arrival took a free slot.
        case runs
        /// The arrival waits with this number.
        case waits(number: UInt64)
    }

    private(set) var limit: Int
    private(set) var runningCount = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var firstNumber: UInt64 = 0
    private var nextNumber: UInt64 = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    var waitingCount: Int { waiters.count }

    /// Takes a slot if one is free and no waiter is queued.
    mutating func takeFreeSlot() -> Bool {
        guard runningCount < limit, waiters.isEmpty else { return false }
        runningCount += 1
        return true
    }

    /// Takes a slot, or appends the waiter to the queue.
    mutating func arrive(_ waiter: Waiter) -> Arrival {
        if takeFreeSlot() { return .runs }
        let number = nextNumber
        nextNumber &+= 1
        waiters[number] = waiter
        return .waits(number: number)
    }

    /// Removes a waiter; returns nil if it was admitted or removed before.
    mutating func leave(_ number: UInt64) -> Waiter? { waiters.removeValue(forKey: number) }

    /// Frees a slot; returns the waiter that takes it.
    mutating func finish() -> Waiter? {
        runningCount = max(runningCount - 1, 0)
        return admitOne()
    }

    /// Changes the limit; returns the waiters to admit, in order.
    mutating func setLimit(_ newLimit: Int) -> [Waiter] {
        limit = max(newLimit, 1)
        var admitted: [Waiter] = []
        while let waiter = admitOne() { admitted.append(waiter) }
        return admitted
    }

    /// Removes and returns all waiters, in order.
    ///
    /// Running requests are not affected.
    mutating func removeAll() -> [Waiter] {
        var removed: [Waiter] = []
        while let waiter = removeFirst() { removed.append(waiter) }
        return removed
    }

    private mutating func admitOne() -> Waiter? {
        guard runningCount < limit, let waiter = removeFirst() else { return nil }
        runningCount += 1
        return waiter
    }

    private mutating func removeFirst() -> Waiter? {
        guard !waiters.isEmpty else {
            firstNumber = nextNumber
            return nil
        }
        while firstNumber < nextNumber {
            let number = firstNumber
            firstNumber += 1
            if let waiter = waiters.removeValue(forKey: number) { return waiter }
        }
        return nil
    }
}
