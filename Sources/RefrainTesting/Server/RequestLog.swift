/// The requests received, in order.
final class RequestLog: Sendable {
    private struct State {
        var entries: [FaultServer.LogEntry] = []
        /// The number of the first remaining entry.
        var first = 0
    }

    private let state = Observed(State())
    private let limit: Int

    init(limit: Int) { self.limit = max(1, limit) }

    var entries: [FaultServer.LogEntry] { state.withLock { $0.entries } }

    func count(where matches: (FaultServer.LogEntry) -> Bool) -> Int {
        entries.reduce(0) { $0 + (matches($1) ? 1 : 0) }
    }

    /// Returns when this many entries match, or when the calling task is cancelled.
    func entries(atLeast count: Int, where matches: @escaping @Sendable (FaultServer.LogEntry) -> Bool) async {
        await state.wait { $0.entries.count { matches($0) } >= count }
    }

    /// Adds an entry and returns its number, for ``update(_:_:)``.
    func append(_ entry: FaultServer.LogEntry) -> Int {
        state.withLock { state in
            if state.entries.count >= limit {
                // Removes half of the entries at a time, so that the cost per entry is constant.
                let surplus = max(1, limit / 2)
                state.entries.removeFirst(surplus)
                state.first += surplus
            }
            state.entries.append(entry)
            return state.first + state.entries.count - 1
        }
    }

    func update(_ number: Int, _ change: (inout FaultServer.LogEntry) -> Void) {
        state.withLock { state in
            let index = number - state.first
            guard state.entries.indices.contains(index) else { return }
            change(&state.entries[index])
        }
    }

    func clear() {
        state.withLock { state in
            state.first += state.entries.count
            state.entries.removeAll()
        }
    }
}
