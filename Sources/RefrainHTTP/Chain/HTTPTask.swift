#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request under way, for callers that do not use `async`: callbacks, and a way to cancel.
///
/// ```swift
/// let task = loader.load(request) { result in print(result) }
/// task.addCancelHandler { print("no longer wanted") }
/// task.cancel()
/// ```
///
/// Each completion handler runs exactly once, on no particular thread (rule R30). A task that was cancelled completes
/// with ``HTTPError/Code/cancelled`` as soon as its loader has let go of it, whatever the loader had come to in the
/// meantime. A task runs on where nobody holds it. The idea is from "HTTP in Swift".
public final class HTTPTask: Sendable, Identifiable {
    /// Names the task, in logs.
    public let id = UUID()

    private typealias State = HTTPTaskState<
        HTTPResult, @Sendable () -> Void, @Sendable (HTTPResult) -> Void
    >

    private let state: Locked<State>
    private let work: Task<Void, Never>

    /// Starts to load a request.
    init(
        _ request: HTTPRequest,
        with loader: some HTTPLoader,
        completion: (@Sendable (HTTPResult) -> Void)? = nil
    ) {
        var initial = State()
        if let completion { _ = initial.handle(.addCompletionHandler(completion)) }
        let state = Locked(initial)
        self.state = state
        work = Task {
            let result = await loader.load(request)
            let action = state.withLock {
                $0.handle(
                    .finish(result, ifCancelled: result.cancelled(request), isCancellation: result.isCancellation)
                )
            }
            Self.perform(action)
        }
    }

    /// What became of the request; it waits for that.
    ///
    /// The task that waits may be cancelled without an effect on this one.
    public var result: HTTPResult {
        get async {
            await withCheckedContinuation { continuation in
                addCompletionHandler { continuation.resume(returning: $0) }
            }
        }
    }

    /// Cancels the request; the first call counts, and only before the request is complete.
    ///
    /// Cancel handlers run on the calling thread before this returns, the last one added first.
    public func cancel() {
        let action = state.withLock { $0.handle(.cancel) }
        if action.cancelsWork { work.cancel() }
        Self.perform(action)
    }

    /// Adds what is to be done where the request is cancelled; handlers run in reverse order.
    ///
    /// Where it was cancelled already, by ``cancel()`` or by a reset, the handler runs at once. Where it is complete
    /// for another reason, the handler is dropped.
    public func addCancelHandler(_ handler: @escaping @Sendable () -> Void) {
        Self.perform(state.withLock { $0.handle(.addCancelHandler(handler)) })
    }

    /// Adds what is to be done with the result; handlers run in the order in which they were added.
    ///
    /// Where the request is complete already, the handler runs at once.
    public func addCompletionHandler(_ handler: @escaping @Sendable (HTTPResult) -> Void) {
        Self.perform(state.withLock { $0.handle(.addCompletionHandler(handler)) })
    }

    private static func perform(_ action: State.Action) {
        for handler in action.cancelHandlers { handler() }
        guard let outcome = action.outcome else { return }
        for handler in action.completionHandlers { handler(outcome) }
    }
}

extension HTTPResult {
    fileprivate var isCancellation: Bool {
        if case .failure(let error) = self { return error.code == .cancelled }
        return false
    }

    /// What a caller who has cancelled gets: the cancellation, with the record of what was done until then.
    fileprivate func cancelled(_ request: HTTPRequest) -> HTTPResult {
        guard !isCancellation else { return self }
        var error = HTTPError(.cancelled, request: request, message: "cancelled by the caller")
        error.attempts = attempts
        switch self {
        case .success(let response): error.bytesSent = response.exchange.bytesSent
        case .failure(let failure):
            error.bytesSent = failure.bytesSent
            error.lastFailure = failure.code
        }
        return .failure(error)
    }
}
