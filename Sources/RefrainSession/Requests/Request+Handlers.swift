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

    /// Runs `body` when the request has ended, or now if it has, after those that were added before it, or else before
    /// them.
    package func whenEnded(isFirst: Bool = false, _ body: @escaping @Sendable () async -> Void) {
        let isDue = state.withLock { state in
            state.withColdState { cold in cold.completions.insert(body, at: isFirst ? 0 : cold.completions.count) }
            return state.hasEnded && state.claimCompletions()
        }
        if isDue { runCompletions() }
    }

    /// Runs what waits for the end.
    func completeHandlers() {
        let (handlers, isDue) = state.withLock { ($0.takeCURLHandlers(), $0.claimCompletions()) }
        describe(to: handlers)
        if isDue { runCompletions() }
    }

    /// Runs the completions in order and in one task, since each may take its time and add another.
    private func runCompletions() {
        Task {
            while let next = state.withLock({ $0.nextCompletion() }) { await next() }
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

    /// Whether there are completions that no task runs; the caller is to start one.
    fileprivate mutating func claimCompletions() -> Bool {
        guard let cold, !cold.completions.isEmpty, !cold.runsCompletions else { return false }
        cold.runsCompletions = true
        return true
    }

    fileprivate mutating func nextCompletion() -> (@Sendable () async -> Void)? {
        guard let cold, !cold.completions.isEmpty else {
            cold?.runsCompletions = false
            return nil
        }
        return cold.completions.removeFirst()
    }
}

extension DispatchQueue? {
    /// Returns a handler that runs on the queue; without a queue, the handler itself.
    func dispatching<Value: Sendable>(_ handler: @escaping @Sendable (Value) -> Void) -> @Sendable (Value) -> Void {
        guard let queue = self else { return handler }
        return { value in queue.async { handler(value) } }
    }
}
