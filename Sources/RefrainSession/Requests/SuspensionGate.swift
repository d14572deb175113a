// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// A gate at which tasks wait while a request is suspended, until it is resumed or they are cancelled.
///
/// It is part of the request's state, under the same lock.
struct SuspensionGate: Sendable {
    /// The tasks that wait at a gate.
    struct Waiters {
        fileprivate var nextKey = 0
        fileprivate var all: [Int: CheckedContinuation<Void, Never>] = [:]
    }

    let state: Locked<RequestState>

    /// Whether tasks pass without waiting.
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

    private func wait() async {
        let key = state.withLock { state in
            state.gate.nextKey &+= 1
            return state.gate.nextKey
        }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let passes = state.withLock { state in
                    // The handler may have run before; it would not resume this waiter.
                    guard !state.letsPass, !Task.isCancelled else { return true }
                    state.gate.all[key] = continuation
                    return false
                }
                if passes { continuation.resume() }
            }
        } onCancel: {
            state.withLock { $0.gate.all.removeValue(forKey: key) }?.resume()
        }
    }
}

extension RequestState {
    /// Opens the gate; returns the continuations to resume.
    mutating func openGate() -> [CheckedContinuation<Void, Never>] {
        isGateOpen = true
        return takeWaitersAtGate()
    }

    /// Marks the exchange as shared, so that it continues whatever happens to this request.
    ///
    /// Returns the continuations to resume.
    mutating func shareExchange() -> [CheckedContinuation<Void, Never>] {
        sharesExchange = true
        return takeWaitersAtGate()
    }

    /// Whether tasks pass without waiting.
    var letsPass: Bool { isGateOpen || sharesExchange }

    private mutating func takeWaitersAtGate() -> [CheckedContinuation<Void, Never>] {
        defer { gate.all.removeAll() }
        return Array(gate.all.values)
    }
}
