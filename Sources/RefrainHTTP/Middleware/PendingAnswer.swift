/// A place for one answer, and for the one who waits for it; the first answer stands.
package final class PendingAnswer<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case awaited(UnsafeContinuation<Value, Never>)
        case answered(Value)
    }

    private let state = Locked(State.empty)

    package init() {}

    /// The answer; to be asked for once.
    package var value: Value {
        get async {
            await withUnsafeContinuation { (continuation: UnsafeContinuation<Value, Never>) in
                let answer: Value? = state.withLock { state in
                    if case .answered(let answer) = state { return answer }
                    state = .awaited(continuation)
                    return nil
                }
                if let answer { continuation.resume(returning: answer) }
            }
        }
    }

    /// Answers, unless there is an answer already.
    package func give(_ answer: Value) {
        let waiter: UnsafeContinuation<Value, Never>? = state.withLock { state in
            switch state {
            case .empty:
                state = .answered(answer)
                return nil
            case .awaited(let continuation):
                state = .answered(answer)
                return continuation
            case .answered:
                return nil
            }
        }
        waiter?.resume(returning: answer)
    }
}
