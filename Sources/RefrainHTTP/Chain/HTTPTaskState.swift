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
