/// The completion of an interceptor that is written with callbacks.
///
/// It counts once, however often it is called. One that is let go without a call fails the request with
/// ``CompletionDropped``, and cancelling the request ends the wait for it, so that no request hangs on it.
public struct InterceptorCompletion<Value: Sendable>: Sendable {
    private let answer: OneAnswer<Value>

    fileprivate init(_ answer: OneAnswer<Value>) { self.answer = answer }

    /// Gives the answer.
    public func callAsFunction(_ value: Value) { answer.give(.success(value)) }
}

/// An interceptor let its completion go without calling it.
public struct CompletionDropped: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, and what to do.
    public var description: String { "its completion was never called; call it on every path" }
}

extension InterceptorCompletion {
    /// Runs `body` with a completion, and waits for its answer.
    ///
    /// - Throws: ``CompletionDropped``, or `CancellationError` where the task is cancelled first.
    static func wait(_ body: (InterceptorCompletion<Value>) -> Void) async throws -> Value {
        let slot = PendingAnswer<Result<Value, any Error>>()
        return try await withTaskCancellationHandler {
            body(InterceptorCompletion(OneAnswer(slot)))
            return try await slot.value.get()
        } onCancel: {
            slot.give(.failure(CancellationError()))
        }
    }
}

/// The caller's end: when the last copy of the completion goes, so does this.
private final class OneAnswer<Value: Sendable>: Sendable {
    private let slot: PendingAnswer<Result<Value, any Error>>

    init(_ slot: PendingAnswer<Result<Value, any Error>>) { self.slot = slot }

    deinit { slot.give(.failure(CompletionDropped())) }

    func give(_ answer: Result<Value, any Error>) { slot.give(answer) }
}
