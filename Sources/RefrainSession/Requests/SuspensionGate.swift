internal import RefrainCore

/// A gate that is open or closed: those who come while it is closed wait until it opens, or they are cancelled.
///
/// It stands within the state of its request, behind the lock of that.
struct SuspensionGate: Sendable {
    /// Who waits at a gate.
    struct Waiters {
        fileprivate var nextKey = 0
        fileprivate var all: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let state: Locked<RequestState>

    /// Whether nobody would have to wait.
    var isOpen: Bool { state.withLock { $0.letsPass } }

    func close() { state.withLock { $0.isGateOpen = false } }

    func open() {
        for waiter in state.withLock({ $0.openGate() }) { waiter.resume() }
    }

    /// Returns when the gate is open, or the task is cancelled.
    func pass() async {
        guard !isOpen else { return }
        await wait()
    }

    @inline(never)
    private func wait() async {
        let key = state.withLock { state in
            state.withRare { rare in
                rare.gate.nextKey &+= 1
                return rare.gate.nextKey
            }
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // The handler may have run before: then nobody would wake this waiter.
                    guard !state.letsPass, !Task.isCancelled else { return true }
                    state.withRare { $0.gate.all[key] = continuation }
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.rare?.gate.all.removeValue(forKey: key) }?.resume()
        }
    }
}

extension RequestState {
    /// Opens the gate; the answer is who has waited at it.
    mutating func openGate() -> [CheckedContinuation<Void, Never>] {
        isGateOpen = true
        return takeWaitersAtGate()
    }

    /// Lets the exchange go on that the request has begun, whatever becomes of the request: others share it.
    ///
    /// The answer is who has waited at the gate.
    mutating func shareExchange() -> [CheckedContinuation<Void, Never>] {
        withRare { $0.sharesExchange = true }
        return takeWaitersAtGate()
    }

    /// Whether nobody has to wait at the gate.
    fileprivate var letsPass: Bool { isGateOpen || rare?.sharesExchange == true }

    private func takeWaitersAtGate() -> [CheckedContinuation<Void, Never>] {
        guard let rare else { return [] }
        defer { rare.gate.all.removeAll() }
        return Array(rare.gate.all.values)
    }
}
