internal import RefrainCore

/// A gate that is open or closed: those who come while it is closed wait until it opens, or they are cancelled.
final class SuspensionGate: Sendable {
    private struct State {
        var isOpen = true
        var nextKey = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    private let state = Locked(State())

    /// Whether nobody would have to wait.
    var isOpen: Bool { state.withLock { $0.isOpen } }

    func close() { state.withLock { $0.isOpen = false } }

    func open() {
        let waiters = state.withLock { state in
            state.isOpen = true
            defer { state.waiters.removeAll() }
            return Array(state.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the gate is open, or the task is cancelled.
    func pass() async {
        guard !isOpen else { return }
        let key = state.withLock { state in
            state.nextKey &+= 1
            return state.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // The handler may have run before: then nobody would wake this waiter.
                    guard !state.isOpen, !Task.isCancelled else { return true }
                    state.waiters[key] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.waiters.removeValue(forKey: key) }?.resume()
        }
    }
}
