// SPDX-License-Identifier: Apache-2.0
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
    private let work = Locked(Work.notStarted)

    private enum Work {
        case notStarted
        case started(Task<Void, Never>)
        /// Cancelled before a loader started it.
        case abandoned
    }

    /// Makes a task that ``HTTPLoader/load(task:)`` starts.
    ///
    /// If it is cancelled before, it completes at once, and no loader sends it.
    public init(request: HTTPRequest, completion: @escaping @Sendable (HTTPResult) -> Void = { _ in }) {
        self.request = request
        var initial = State()
        _ = initial.handle(.addCompletionHandler(completion))
        state = Locked(initial)
    }

    /// Starts to load the request, once.
    fileprivate func start(with loader: some HTTPLoader) {
        work.withLock { work in
            guard case .notStarted = work else { return }
            work = .started(Task { complete(with: await loader.load(request)) })
        }
    }

    private func complete(with result: HTTPResult) {
        let action = state.withLock {
            $0.handle(.finish(result, ifCancelled: result.cancelled(request), isCancellation: result.isCancellation))
        }
        Self.perform(action)
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
        let isAbandoned = action.cancelsWork && cancelWork()
        Self.perform(action)
        // Nothing else would complete it.
        if isAbandoned { complete(with: .failure(HTTPError(.cancelled, request: request, bytesSent: 0))) }
    }

    /// Cancels the work; returns whether it had not been started, and will not be.
    private func cancelWork() -> Bool {
        let (started, isAbandoned) = work.withLock { work -> (Task<Void, Never>?, Bool) in
            switch work {
            case .started(let task): return (task, false)
            case .abandoned: return (nil, false)
            case .notStarted:
                work = .abandoned
                return (nil, true)
            }
        }
        started?.cancel()
        return isAbandoned
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

extension HTTPLoader {
    /// Starts to load the request of a task; has no effect on a task that was started or cancelled.
    public func load(task: HTTPTask) { task.start(with: self) }

    /// Starts to load a request, and calls `completion` with the result.
    ///
    /// - Returns: the task, with which to cancel the request or add handlers.
    @discardableResult
    public func load(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> HTTPTask {
        let task = HTTPTask(request: request, completion: completion)
        load(task: task)
        return task
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

/// The state machine of an ``HTTPTask``: takes events, returns actions.
struct HTTPTaskState<Outcome, CancelHandler, CompletionHandler> {
    /// What happens to a task.
    enum Event {
        case addCancelHandler(CancelHandler)
        case addCompletionHandler(CompletionHandler)
        /// The caller cancelled the task.
        case cancel
        /// The loader returned. `ifCancelled` is the outcome to report if the caller has cancelled.
        case finish(Outcome, ifCancelled: Outcome, isCancellation: Bool)
    }

    /// The actions to perform outside the lock, in the order of the properties.
    struct Action {
        /// The cancel handlers to run, in this order: the reverse of the order of addition.
        var cancelHandlers: [CancelHandler] = []
        /// The completion handlers to run, in this order.
        var completionHandlers: [CompletionHandler] = []
        /// The argument of the completion handlers.
        var outcome: Outcome?
        /// Whether to cancel the running work.
        var cancelsWork = false
    }

    private enum Phase {
        case running
        case cancelling
        case finished(Outcome, wasCancelled: Bool)
    }

    private var phase = Phase.running
    private var cancelHandlers: [CancelHandler] = []
    private var completionHandlers: [CompletionHandler] = []

    /// Whether the task was cancelled before it was complete.
    var isCancelled: Bool {
        switch phase {
        case .running: false
        case .cancelling: true
        case .finished(_, let wasCancelled): wasCancelled
        }
    }

    /// Processes an event and returns the actions to perform.
    mutating func handle(_ event: Event) -> Action {
        switch (event, phase) {
        case (.addCancelHandler(let handler), .running):
            cancelHandlers.append(handler)
        case (.addCancelHandler(let handler), .cancelling),
            (.addCancelHandler(let handler), .finished(_, wasCancelled: true)):
            return Action(cancelHandlers: [handler])
        case (.addCancelHandler, .finished):
            break

        case (.addCompletionHandler(let handler), .running), (.addCompletionHandler(let handler), .cancelling):
            completionHandlers.append(handler)
        case (.addCompletionHandler(let handler), .finished(let outcome, _)):
            return Action(completionHandlers: [handler], outcome: outcome)

        case (.cancel, .running):
            phase = .cancelling
            return Action(cancelHandlers: takeCancelHandlers(), cancelsWork: true)
        case (.cancel, .cancelling), (.cancel, .finished):
            break

        case (.finish(let outcome, _, let isCancellation), .running):
            return finish(outcome, wasCancelled: isCancellation)
        case (.finish(_, let outcome, _), .cancelling):
            return finish(outcome, wasCancelled: true)
        case (.finish, .finished):
            break
        }
        return Action()
    }

    private mutating func finish(_ outcome: Outcome, wasCancelled: Bool) -> Action {
        phase = .finished(outcome, wasCancelled: wasCancelled)
        defer { completionHandlers = [] }
        let removed = takeCancelHandlers()
        return Action(
            cancelHandlers: wasCancelled ? removed : [],
            completionHandlers: completionHandlers,
            outcome: outcome
        )
    }

    private mutating func takeCancelHandlers() -> [CancelHandler] {
        defer { cancelHandlers = [] }
        return cancelHandlers.reversed()
    }
}
