// SPDX-License-Identifier: Apache-2.0
/// Identifies one timer; never reused.
@usableFromInline
struct TimerID {
    fileprivate let slot: Int
    fileprivate let serial: UInt64
}

/// The pending timers, in a heap by their due times.
///
/// Each node of the heap has four children, which lie side by side: half the levels of a binary heap, and one cache
/// line per level. A timer stays in its slot; the slot stores the position in the heap, so that a timer is removed in
/// logarithmic time. Memory for the most timers at a time is kept until there are none.
struct TimerStore<Waker> {
    private struct Slot {
        /// Nil in a free slot.
        var waker: Waker?
        /// Not retained: a reference count on every timer costs more than the rest.
        var token: ObjectIdentifier?
        var serial: UInt64
        var position = 0
    }

    private struct Node {
        let due: Int64
        let slot: Int
    }

    private var heap: [Node] = []
    private var slots: [Slot] = []
    private var freeSlots: [Int] = []
    private var nextSerial: UInt64 = 0

    /// The number of pending timers.
    var count: Int { heap.count }

    /// The earliest due time.
    var nextDue: Int64? { heap.first?.due }

    /// Adds a timer.
    ///
    /// The token must live as long as the timer.
    mutating func insert(_ waker: Waker, due: Int64, token: CancellationToken?) -> TimerID {
        let slot = freeSlots.popLast() ?? slots.count
        let entry = Slot(waker: waker, token: token.map { ObjectIdentifier($0) }, serial: nextSerial)
        if slot == slots.count { slots.append(entry) } else { slots[slot] = entry }
        nextSerial &+= 1
        heap.append(Node(due: due, slot: slot))
        siftUp(from: heap.count - 1)
        return TimerID(slot: slot, serial: entry.serial)
    }

    /// Removes a timer before it is due.
    ///
    /// Returns nil if it is no longer pending.
    mutating func remove(_ timer: TimerID) -> Waker? {
        guard timer.slot < slots.count, slots[timer.slot].serial == timer.serial else { return nil }
        return take(timer.slot)
    }

    /// Removes all timers with a token.
    mutating func removeAll(with token: CancellationToken) -> [Waker] {
        let identity = ObjectIdentifier(token)
        let matching = heap.filter { slots[$0.slot].token == identity }
        return matching.compactMap { take($0.slot) }
    }

    /// Removes one timer that is due.
    mutating func removeFirst(dueBy now: Int64) -> Waker? {
        guard let first = heap.first, first.due <= now else { return nil }
        return take(first.slot)
    }

    private mutating func take(_ slot: Int) -> Waker? {
        guard let waker = slots[slot].waker.take() else { return nil }
        let position = slots[slot].position
        let last = heap.removeLast()
        if position < heap.count {
            heap[position] = last
            siftDown(from: position)
            siftUp(from: slots[last.slot].position)
        }
        freeSlots.append(slot)
        if heap.isEmpty, slots.count > 4096 { (heap, slots, freeSlots) = ([], [], []) }
        return waker
    }

    private mutating func siftUp(from start: Int) {
        let node = heap[start]
        var position = start
        while position > 0 {
            let parent = (position - 1) / 4
            guard node.due < heap[parent].due else { break }
            place(heap[parent], at: position)
            position = parent
        }
        place(node, at: position)
    }

    private mutating func siftDown(from start: Int) {
        let node = heap[start]
        var position = start
        while true {
            let child = 4 * position + 1
            guard child < heap.count else { break }
            var earliest = child
            for other in child + 1..<min(child + 4, heap.count) where heap[other].due < heap[earliest].due {
                earliest = other
            }
            guard heap[earliest].due < node.due else { break }
            place(heap[earliest], at: position)
            position = earliest
        }
        place(node, at: position)
    }

    private mutating func place(_ node: Node, at position: Int) {
        heap[position] = node
        slots[node.slot].position = position
    }
}
