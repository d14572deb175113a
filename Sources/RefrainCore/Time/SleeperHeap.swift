/// A task that waits for its time.
final class Sleeper: @unchecked Sendable {
    // @unchecked Sendable: `due` and `group` never change; the rest is touched only with the queue's mutex held.
    let due: Int64
    let group: SleepGroup?
    var continuation: UnsafeContinuation<Void, any Error>?
    var isCancelled = false
    /// The position in the heap, or -1 outside of it.
    var position = -1

    init(due: Int64, group: SleepGroup?) {
        self.due = due
        self.group = group
    }
}

/// A binary heap of sleepers, the earliest first, in which each knows its place, so that any can leave quickly.
struct SleeperHeap {
    private var entries: [Sleeper] = []

    var first: Sleeper? { entries.first }
    var count: Int { entries.count }

    mutating func insert(_ sleeper: Sleeper) {
        sleeper.position = entries.count
        entries.append(sleeper)
        siftUp(from: sleeper.position)
    }

    /// Takes a sleeper out; one that is not in the heap is left alone.
    mutating func remove(_ sleeper: Sleeper) {
        let position = sleeper.position
        guard position >= 0 else { return }
        sleeper.position = -1
        let last = entries.removeLast()
        guard position < entries.count else { return }
        entries[position] = last
        last.position = position
        siftDown(from: position)
        siftUp(from: last.position)
    }

    /// Takes out all that match.
    mutating func removeAll(where matches: (Sleeper) -> Bool) -> [Sleeper] {
        let leaving = entries.filter(matches)
        guard !leaving.isEmpty else { return [] }
        let staying = entries.filter { !matches($0) }
        for sleeper in leaving { sleeper.position = -1 }
        entries = staying
        for (position, sleeper) in entries.enumerated() { sleeper.position = position }
        for position in stride(from: entries.count / 2 - 1, through: 0, by: -1) { siftDown(from: position) }
        return leaving
    }

    private mutating func siftUp(from start: Int) {
        var child = start
        while child > 0 {
            let parent = (child - 1) / 2
            guard entries[child].due < entries[parent].due else { return }
            swap(child, parent)
            child = parent
        }
    }

    private mutating func siftDown(from start: Int) {
        var parent = start
        while true {
            var smallest = parent
            let (left, right) = (2 * parent + 1, 2 * parent + 2)
            if left < entries.count, entries[left].due < entries[smallest].due { smallest = left }
            if right < entries.count, entries[right].due < entries[smallest].due { smallest = right }
            guard smallest != parent else { return }
            swap(parent, smallest)
            parent = smallest
        }
    }

    private mutating func swap(_ left: Int, _ right: Int) {
        entries.swapAt(left, right)
        entries[left].position = left
        entries[right].position = right
    }
}
