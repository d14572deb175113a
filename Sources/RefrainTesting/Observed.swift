// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// A value behind a lock, and the tasks that wait until it satisfies a condition.
package final class Observed<Value: Sendable>: Sendable {
    /// A task that waits.
    private final class Watcher: @unchecked Sendable {
        // @unchecked Sendable: the condition never changes; the rest is accessed only with the lock held.
        let isSatisfied: @Sendable (Value) -> Bool
        var continuation: CheckedContinuation<Void, Never>?
        var isRemoved = false

        init(_ isSatisfied: @escaping @Sendable (Value) -> Bool) { self.isSatisfied = isSatisfied }
    }

    private struct State {
        var value: Value
        var watchers: [Watcher] = []

        mutating func takeSatisfied() -> [CheckedContinuation<Void, Never>] {
            guard !watchers.isEmpty else { return [] }
            let satisfied = watchers.filter { $0.isSatisfied(value) }
            watchers.removeAll { watcher in satisfied.contains { $0 === watcher } }
            return satisfied.compactMap { $0.continuation.take() }
        }
    }

    private let state: Locked<State>

    /// Makes the holder of a value.
    package init(_ value: Value) { state = Locked(State(value: value)) }

    /// The value.
    package var value: Value { state.withLock { $0.value } }

    /// Changes the value, and resumes the tasks whose conditions it satisfies.
    ///
    /// `change` must not block and must not access this object.
    @discardableResult
    package func withLock<Result>(_ change: (inout Value) -> Result) -> Result {
        let (result, satisfied) = state.withLock { state in
            let result = change(&state.value)
            return (result, state.takeSatisfied())
        }
        for continuation in satisfied { continuation.resume() }
        return result
    }

    /// Returns when the value satisfies a condition, or when the calling task is cancelled.
    package func wait(until isSatisfied: @escaping @Sendable (Value) -> Bool) async {
        let watcher = Watcher(isSatisfied)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let isOver = state.withLock { state in
                    guard !watcher.isRemoved, !isSatisfied(state.value) else { return true }
                    watcher.continuation = continuation
                    state.watchers.append(watcher)
                    return false
                }
                if isOver { continuation.resume() }
            }
        } onCancel: {
            let continuation = state.withLock { state in
                watcher.isRemoved = true
                state.watchers.removeAll { $0 === watcher }
                return watcher.continuation.take()
            }
            continuation?.resume()
        }
    }
}
