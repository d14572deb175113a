// SPDX-License-Identifier: Apache-2.0
/// Stores values under integer slots that are reused after removal; access needs no hashing.
package struct SlotMap<Element> {
    var slots: [Element?] = []
    var free: [Int] = []

    /// Makes an empty list.
    package init() {}

    /// The number of values.
    package var count: Int { slots.count - free.count }

    /// The values, in no particular order.
    package var all: [Element] { slots.compactMap { $0 } }

    /// Inserts a value and returns its slot.
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
    package mutating func remove(at slot: Int) {
        slots[slot] = nil
        free.append(slot)
    }
}
