extension HTTPLoader {
    /// Starts to load a request, and calls back with what became of it.
    ///
    /// - Returns: the task, for those who want to cancel it or to add handlers.
    @discardableResult
    public func load(
        _ request: HTTPRequest,
        completion: @escaping @Sendable (HTTPResult) -> Void
    ) -> HTTPTask {
        HTTPTask(request, with: self, completion: completion)
    }

    /// Resets the loader, and calls back when nothing is under way any more.
    public func reset(completion: @escaping @Sendable () -> Void) {
        Task {
            await reset()
            completion()
        }
    }
}
