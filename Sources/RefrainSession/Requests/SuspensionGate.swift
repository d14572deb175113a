internal import RefrainCore

/// A gate that is open or closed: those who come while it is closed wait until it opens, or they are cancelled.
///
/// It stands within the state of its request, behind the lock of that.
struct SuspensionGate: Sendable {
    /// What the state of a request keeps of its gate.
    struct State {
        var isOpen = true
        var nextKey = 0
        var waiters: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let state: Locked<RequestState>

    /// Whether nobody would have to wait.
    var isOpen: Bool { state.withLock { $0.gate.isOpen } }

    func close() { state.withLock { $0.gate.isOpen = false } }

    func open() {
        let waiters = state.withLock { state in
            state.gate.isOpen = true
            defer { state.gate.waiters.removeAll() }
            return Array(state.gate.waiters.values)
        }
        for waiter in waiters { waiter.resume() }
    }

    /// Returns when the gate is open, or the task is cancelled.
    func pass() async {
        guard !isOpen else { return }
        await wait()
    }

    @inline(never)
    private func wait() async {
        let key = state.withLock { state in
            state.gate.nextKey &+= 1
            return state.gate.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // The handler may have run before: then nobody would wake this waiter.
                    guard !state.gate.isOpen, !Task.isCancelled else { return true }
                    state.gate.waiters[key] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.gate.waiters.removeValue(forKey: key) }?.resume()
        }
    }
}
