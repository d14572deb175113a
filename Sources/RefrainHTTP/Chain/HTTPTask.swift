#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request in flight, for callers that use callbacks instead of `async`.
///
/// ```swift
/// let task = loader.load(request) { result in print(result) }
/// task.addCancelHandler { print("no longer wanted") }
/// task.cancel()
/// ```
///
/// Each completion handler runs exactly once, on an unspecified thread. A cancelled task completes with
/// ``HTTPError/Code/cancelled`` when its loader returns, whatever the loader's result. The request continues if the
/// task is deallocated.
public final class HTTPTask: Sendable, Identifiable {
    /// The identity of the task, for logs.
    public let id = UUID()
    /// The request that is loaded, as it was given.
    public let request: HTTPRequest

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
        self.request = request
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

    /// Waits for the result of the request.
    ///
    /// Cancelling the waiting task has no effect on this one.
    public var result: HTTPResult {
        get async {
            await withCheckedContinuation { continuation in
                addCompletionHandler { continuation.resume(returning: $0) }
            }
        }
    }

    /// Whether the request was cancelled before it was complete, by ``cancel()`` or by a reset.
    public var isCancelled: Bool { state.withLock { $0.isCancelled } }

    /// Cancels the request.
    ///
    /// Has no effect after the first call or after completion.
    ///
    /// Runs the cancel handlers on the calling thread, the most recently added first, before it returns.
    public func cancel() {
        let action = state.withLock { $0.handle(.cancel) }
        if action.cancelsWork { work.cancel() }
        Self.perform(action)
    }

    /// Adds a handler that runs if the request is cancelled.
    ///
    /// Handlers run in reverse order of addition.
    ///
    /// If the request was already cancelled, by ``cancel()`` or by a reset, the handler runs immediately. If it
    /// completed otherwise, the handler is discarded.
    public func addCancelHandler(_ handler: @escaping @Sendable () -> Void) {
        Self.perform(state.withLock { $0.handle(.addCancelHandler(handler)) })
    }

    /// Adds a handler that receives the result.
    ///
    /// Handlers run in order of addition.
    ///
    /// If the request is already complete, the handler runs immediately.
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

    /// The result of a cancelled task: a cancellation error with the attempts made so far.
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
