extension HTTPLoader {
    /// Starts to load a request, and calls `completion` with the result.
    ///
    /// - Returns: the task, with which to cancel the request or add handlers.
    @discardableResult
    public func load(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> HTTPTask {
        HTTPTask(request, with: self, completion: completion)
    }

    /// Resets the loader, and calls `completion` when no request is in flight.
    public func reset(completion: @escaping @Sendable () -> Void) {
        Task {
            await reset()
            completion()
        }
    }
}
