/// Who runs and who waits, as a pure state machine: each event answers with those who may go.
///
/// Waiters stand in the order of their tickets. One who leaves early leaves a gap, which is skipped once.
struct ThrottleQueue<Waiter> {
    /// What an arrival leads to.
    enum Arrival: Equatable {
        /// There was a slot; it is taken.
        case runs
        /// The arrival stands in the queue with this ticket.
        case waits(ticket: UInt64)
    }

    private(set) var limit: Int
    private(set) var runningCount = 0
    private var waiters: [UInt64: Waiter] = [:]
    private var firstTicket: UInt64 = 0
    private var nextTicket: UInt64 = 0

    init(limit: Int) { self.limit = max(limit, 1) }

    var waitingCount: Int { waiters.count }

    /// Takes a slot if there is a free one and nobody waits for it.
    mutating func takeFreeSlot() -> Bool {
        guard runningCount < limit, waiters.isEmpty else { return false }
        runningCount += 1
        return true
    }

    /// Takes a slot, or a place at the end of the queue.
    mutating func arrive(_ waiter: Waiter) -> Arrival {
        if takeFreeSlot() { return .runs }
        let ticket = nextTicket
        nextTicket &+= 1
        waiters[ticket] = waiter
        return .waits(ticket: ticket)
    }

    /// A waiter goes without having run; nil where it was let in or turned away before.
    mutating func leave(ticket: UInt64) -> Waiter? { waiters.removeValue(forKey: ticket) }

    /// A slot becomes free; the answer is the waiter who takes it over.
    mutating func finish() -> Waiter? {
        runningCount = max(runningCount - 1, 0)
        return admitOne()
    }

    /// The limit changes; the answer is all who may go now, in order.
    mutating func setLimit(_ newLimit: Int) -> [Waiter] {
        limit = max(newLimit, 1)
        var admitted: [Waiter] = []
        while let waiter = admitOne() { admitted.append(waiter) }
        return admitted
    }

    /// Everybody in the queue is sent away, in order.
    ///
    /// Who runs, runs on.
    mutating func turnAllAway() -> [Waiter] {
        var leaving: [Waiter] = []
        while let waiter = removeFirst() { leaving.append(waiter) }
        return leaving
    }

    private mutating func admitOne() -> Waiter? {
        guard runningCount < limit, let waiter = removeFirst() else { return nil }
        runningCount += 1
        return waiter
    }

    private mutating func removeFirst() -> Waiter? {
        guard !waiters.isEmpty else {
            firstTicket = nextTicket
            return nil
        }
        while firstTicket < nextTicket {
            let ticket = firstTicket
            firstTicket += 1
            if let waiter = waiters.removeValue(forKey: ticket) { return waiter }
        }
        return nil
    }
}
