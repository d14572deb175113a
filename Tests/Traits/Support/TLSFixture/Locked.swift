// SPDX-License-Identifier: Apache-2.0
import Synchronization

/// A value behind a mutex, as the package of Refrain has it for itself.
final class Locked<State: Sendable>: Sendable {
    private let state: Mutex<State>

    init(_ state: State) { self.state = Mutex(state) }

    func withLock<Value: Sendable>(_ body: (inout State) -> Value) -> Value {
        state.withLock { state in
            var copy = state
            defer { state = copy }
            return body(&copy)
        }
    }
}
