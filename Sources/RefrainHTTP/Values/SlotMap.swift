/// Stores values under integer slots that are reused after removal; access needs no hashing.
@usableFromInline
package struct SlotMap<Element> {
    @usableFromInline var slots: [Element?] = []
    @usableFromInline var free: [Int] = []

    /// Makes an empty list.
    @inlinable
    package init() {}

    /// The number of values.
    @inlinable
    package var count: Int { slots.count - free.count }

    /// The values, in no particular order.
    @inlinable
    package var all: [Element] { slots.compactMap { $0 } }

    /// Inserts a value and returns its slot.
    @inlinable
    package mutating func insert(_ element: Element) -> Int {
        guard let slot = free.popLast() else {
            slots.append(element)
            return slots.count - 1
        }
        slots[slot] = element
        return slot
    }

    /// Removes the value of a slot.
    ///
    /// Call it once per value.
    @inlinable
    package mutating func remove(at slot: Int) {
        slots[slot] = nil
        free.append(slot)
    }
}
