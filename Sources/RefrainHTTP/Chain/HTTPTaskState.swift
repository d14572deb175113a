/// The life of an ``HTTPTask`` as a pure state machine: an event goes in, what is to be done comes out.
struct HTTPTaskState<Outcome, CancelHandler, CompletionHandler> {
    /// What happens to a task.
    enum Event {
        case addCancelHandler(CancelHandler)
        case addCompletionHandler(CompletionHandler)
        /// The caller cancels.
        case cancel
        /// The loader has answered. `ifCancelled` is the outcome where the caller has cancelled.
        case finish(Outcome, ifCancelled: Outcome, isCancellation: Bool)
    }

    /// What is to be done, in this order, outside of the lock.
    struct Action {
        /// To be run in this order, which is the reverse of that in which they were added.
        var cancelHandlers: [CancelHandler] = []
        /// To be run in this order, with the outcome.
        var completionHandlers: [CompletionHandler] = []
        /// What the completion handlers are handed.
        var outcome: Outcome?
        /// Whether the work is to be cancelled.
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

    /// Takes an event.
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
        let leaving = takeCancelHandlers()
        return Action(
            cancelHandlers: wasCancelled ? leaving : [],
            completionHandlers: completionHandlers,
            outcome: outcome
        )
    }

    private mutating func takeCancelHandlers() -> [CancelHandler] {
        defer { cancelHandlers = [] }
        return cancelHandlers.reversed()
    }
}
