// SPDX-License-Identifier: Apache-2.0
/// A value that one task waits for and another one delivers.
///
/// The first delivery counts.
package final class Promise<Value: Sendable>: Sendable {
    private enum State {
        case pending
        case awaited(UnsafeContinuation<Value, Never>)
        case fulfilled(Value)
    }

    private let state = Locked(State.pending)

    package init() {}

    /// The value.
    ///
    /// Only one task may wait for it, once.
    package var value: Value {
        get async {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Value, Never>) in
                let value: Value? = state.withLock { state in
                    if case .fulfilled(let value) = state { return value }
                    state = .awaited(continuation)
                    return nil
                }
                if let value { continuation.resume(returning: value) }
            }
        }
    }

    /// Delivers the value, unless one was delivered already; returns whether it did.
    @discardableResult
    package func fulfill(_ value: Value) -> Bool {
        let (isFirst, waiter): (Bool, UnsafeContinuation<Value, Never>?) = state.withLock { state in
            switch state {
            case .pending:
                state = .fulfilled(value)
                return (true, nil)
            case .awaited(let continuation):
                state = .fulfilled(value)
                return (true, continuation)
            case .fulfilled: return (false, nil)
            }
        }
        waiter?.resume(returning: value)
        return isFirst
    }
}
