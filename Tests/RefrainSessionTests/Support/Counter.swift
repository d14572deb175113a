import RefrainCore

/// A number that many tasks count up.
final class Counter: Sendable {
    private let state = Locked(0)
    var value: Int { state.withLock { $0 } }
    @discardableResult
    func increment() -> Int {
        state.withLock { count in
            count += 1
            return count
        }
    }
}

/// A list that many tasks append to.
final class Journal<Entry: Sendable>: Sendable {
    private let state = Locked<[Entry]>([])
    var entries: [Entry] { state.withLock { $0 } }
    func append(_ entry: Entry) { state.withLock { $0.append(entry) } }
}

/// An event that tasks wait for.
final class Signal: Sendable {
    private struct State {
        var isSet = false
        var waiters: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    func set() {
        let waiters = state.withLock { state in
            state.isSet = true
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.resume() }
    }

    func wait() async {
        await withCheckedContinuation { continuation in
            let isSet = state.withLock { state in
                if !state.isSet { state.waiters.append(continuation) }
                return state.isSet
            }
            if isSet { continuation.resume() }
        }
    }
}
