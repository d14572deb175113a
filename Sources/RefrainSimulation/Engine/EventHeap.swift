// SPDX-License-Identifier: Apache-2.0
/// A point of virtual time at which something happens.
struct SimulationEvent {
    /// Nanoseconds of virtual time.
    let due: Int64
    /// Events of the same instant happen in the order in which they were scheduled.
    let order: UInt64
    /// The index of the object that handles it, in the loop's table.
    let target: Int32
    /// Tells an event that was overtaken from the present one of the same `value`.
    let serial: UInt32
    /// The value of the event, which the target interprets.
    let value: Int

    static func < (left: SimulationEvent, right: SimulationEvent) -> Bool {
        left.due != right.due ? left.due < right.due : left.order < right.order
    }
}

/// The events to come, earliest first: a heap with four children for each node.
struct EventHeap {
    private var events: [SimulationEvent] = []

    var count: Int { events.count }
    var first: SimulationEvent? { events.first }

    mutating func insert(_ event: SimulationEvent) {
        events.append(event)
        var index = events.count - 1
        while index > 0 {
            let parent = (index - 1) / 4
            guard event < events[parent] else { break }
            events[index] = events[parent]
            index = parent
        }
        events[index] = event
    }

    mutating func removeFirst() {
        guard let last = events.popLast(), !events.isEmpty else { return }
        var index = 0
        while true {
            let firstChild = 4 * index + 1
            guard firstChild < events.count else { break }
            var smallest = firstChild
            for child in firstChild..<min(firstChild + 4, events.count) {
                if events[child] < events[smallest] { smallest = child }
            }
            guard events[smallest] < last else { break }
            events[index] = events[smallest]
            index = smallest
        }
        events[index] = last
    }

    mutating func removeAll() { events = [] }
}
