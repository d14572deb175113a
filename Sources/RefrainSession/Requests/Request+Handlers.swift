public import Dispatch

extension Request {
    /// Calls `handler` with the `curl` command of the first attempt, including its credentials, when that is sent.
    ///
    /// It is called once: at once if an attempt was sent already, and without a command if the request ends before.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called. Defaults to nil: any thread.
    ///   - handler: receives the command, see ``cURLDescription()``.
    @discardableResult
    public func cURLDescription(
        on queue: DispatchQueue? = nil,
        calling handler: @escaping @Sendable (String) -> Void
    ) -> Self {
        let handler = queue.dispatching(handler)
        let isDue = state.withLock { state in
            guard state.requests.isEmpty, !state.hasEnded else { return true }
            state.withColdState { $0.curlHandlers.append(handler) }
            return false
        }
        if isDue { handler(cURLDescription()) }
        return self
    }

    /// Calls handlers of ``cURLDescription(on:calling:)``.
    func describe(to handlers: [@Sendable (String) -> Void]) {
        guard !handlers.isEmpty else { return }
        let description = cURLDescription()
        for handler in handlers { handler(description) }
    }

    /// Runs `body` when the request has ended, after those that were added before it.
    ///
    /// If the request has ended already, it runs now, in a task of its own.
    func whenEnded(_ body: @escaping @Sendable () async -> Void) {
        let hasEnded = state.withLock { state in
            if !state.hasEnded { state.withColdState { $0.completions.append(body) } }
            return state.hasEnded
        }
        if hasEnded { Task { await body() } }
    }

    /// Runs what waits for the end, in order and in one task, since it may take its time.
    func completeHandlers() {
        let (handlers, completions) = state.withLock { ($0.takeCURLHandlers(), $0.takeCompletions()) }
        describe(to: handlers)
        guard !completions.isEmpty else { return }
        Task {
            for completion in completions { await completion() }
        }
    }
}

extension RequestState {
    /// Takes the handlers that wait for the first attempt's request.
    mutating func takeCURLHandlers() -> [@Sendable (String) -> Void] {
        guard let cold, !cold.curlHandlers.isEmpty else { return [] }
        defer { cold.curlHandlers = [] }
        return cold.curlHandlers
    }

    fileprivate mutating func takeCompletions() -> [@Sendable () async -> Void] {
        guard let cold, !cold.completions.isEmpty else { return [] }
        defer { cold.completions = [] }
        return cold.completions
    }
}

extension DispatchQueue? {
    /// Returns a handler that runs on the queue; without a queue, the handler itself.
    func dispatching<Value: Sendable>(_ handler: @escaping @Sendable (Value) -> Void) -> @Sendable (Value) -> Void {
        guard let queue = self else { return handler }
        return { value in queue.async { handler(value) } }
    }
}
