/// A time, and whom it wakes.
struct Alarm {
    let due: Int64
    /// The sleeper's place in the table.
    let place: Int
}

/// A heap of alarms, the earliest first.
///
/// Each has four children, which lie side by side: half the levels of a binary heap, and one line of the processor's
/// cache for each. Times lie in the heap itself, so that nothing else is read while it is put in order.
struct SleeperHeap {
    private var alarms: [Alarm] = []

    var first: Alarm? { alarms.first }
    var count: Int { alarms.count }

    mutating func insert(_ alarm: Alarm) {
        alarms.append(alarm)
        alarms.withUnsafeMutableBufferPointer { Self.siftUp(alarm, from: $0.count - 1, in: $0) }
    }

    /// Takes out the earliest.
    mutating func removeFirst() {
        guard let last = alarms.popLast(), !alarms.isEmpty else { return }
        alarms.withUnsafeMutableBufferPointer { Self.siftDown(last, from: 0, in: $0) }
    }

    /// Takes out all that match.
    mutating func removeAll(where matches: (Alarm) -> Bool) {
        alarms.removeAll(where: matches)
        alarms.withUnsafeMutableBufferPointer { alarms in
            guard alarms.count > 1 else { return }
            for position in stride(from: (alarms.count - 2) / 4, through: 0, by: -1) {
                Self.siftDown(alarms[position], from: position, in: alarms)
            }
        }
    }

    /// Puts an alarm where it belongs, at `start` or above.
    private static func siftUp(_ alarm: Alarm, from start: Int, in alarms: UnsafeMutableBufferPointer<Alarm>) {
        var position = start
        while position > 0 {
            let parent = (position - 1) / 4
            guard alarm.due < alarms[parent].due else { break }
            alarms[position] = alarms[parent]
            position = parent
        }
        alarms[position] = alarm
    }

    /// Puts an alarm where it belongs, at `start` or below.
    private static func siftDown(_ alarm: Alarm, from start: Int, in alarms: UnsafeMutableBufferPointer<Alarm>) {
        var position = start
        while true {
            let child = 4 * position + 1
            guard child < alarms.count else { break }
            var earliest = child
            for other in child + 1..<min(child + 4, alarms.count) where alarms[other].due < alarms[earliest].due {
                earliest = other
            }
            guard alarms[earliest].due < alarm.due else { break }
            alarms[position] = alarms[earliest]
            position = earliest
        }
        alarms[position] = alarm
    }
}
