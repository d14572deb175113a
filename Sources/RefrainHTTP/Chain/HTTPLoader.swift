/// Loads requests: a transport, a stub, or a complete chain.
///
/// ```swift
/// let throttle = Throttle(maximumNumberOfRequests: 4)
/// let loader = ResetGuard() --> Retry(RetryPolicy.recommended) --> throttle --> PlatformLoader()
/// let response = try await loader.response(for: request)
/// ```
///
/// A conformer returns exactly one result per request, runs on the caller's actor, and returns early with
/// ``HTTPError/Code/cancelled`` when the calling task is cancelled. A type that needs another loader behind it conforms
/// to ``HTTPMiddleware`` instead.
public protocol HTTPLoader: Sendable {
    /// Loads a request.
    func load(_ request: HTTPRequest) async -> HTTPResult

    /// Cancels all requests in flight and restores the initial state; returns when no request is in flight.
    func reset() async

    /// Whether the loader itself enforces ``HTTPRequest/timeouts`` on each attempt.
    ///
    /// If true, the ``Timeout`` stage adds no timer of its own. Defaults to false.
    var keepsTimeouts: Bool { get }
}

extension HTTPLoader {
    /// Returns false.
    public var keepsTimeouts: Bool { false }

    /// Does nothing.
    public func reset() async {}

    /// Loads a request and returns its response, of any status.
    ///
    /// - Throws: ``HTTPError`` if there is no response.
    public func response(for request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await load(request.withIdempotencyKeyWritten()).get()
    }
}

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
