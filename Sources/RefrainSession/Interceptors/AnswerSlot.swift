internal import RefrainCore

/// A place for one answer, and for the one who waits for it; the first answer stands.
final class AnswerSlot<Value: Sendable>: Sendable {
    private enum State {
        case empty
        case waiting(CheckedContinuation<Value, any Error>)
        case answered(Result<Value, any Error>)
    }

    private let state = Locked(State.empty)

    func give(_ answer: Result<Value, any Error>) {
        let waiter: CheckedContinuation<Value, any Error>? = state.withLock { state in
            switch state {
            case .empty:
                state = .answered(answer)
                return nil
            case .waiting(let continuation):
                state = .answered(answer)
                return continuation
            case .answered:
                return nil
            }
        }
        waiter?.resume(with: answer)
    }

    func value() async throws -> Value {
        try await withCheckedThrowingContinuation { continuation in
            let answer: Result<Value, any Error>? = state.withLock { state in
                if case .answered(let answer) = state { return answer }
                state = .waiting(continuation)
                return nil
            }
            if let answer { continuation.resume(with: answer) }
        }
    }
}
