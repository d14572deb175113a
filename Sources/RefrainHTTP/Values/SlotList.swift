/// Values that come and go, each in a slot that it is told: nothing is hashed, and slots are used again.
@usableFromInline
package struct SlotList<Element> {
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var free: [Int] = []

    /// Makes an empty list.
    @inlinable
    package init() {}

    /// How many values there are.
    @inlinable
    package var count: Int { slots.count - free.count }

    /// The values, in no particular order.
    @inlinable
    package var all: [Element] { slots.compactMap { $0 } }

    /// Takes a value in; the answer is its slot.
    @inlinable
    package mutating func insert(_ element: Element) -> Int {
        guard let slot = free.popLast() else {
            slots.append(element)
            return slots.count - 1
        }
        slots[slot] = element
        return slot
    }

    /// Lets go of the value in a slot, which happens once for each value.
    @inlinable
    package mutating func remove(at slot: Int) {
        slots[slot] = nil
        free.append(slot)
    }
}
