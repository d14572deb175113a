public import Dispatch

extension Request {
    /// Calls `handler` with the request of each attempt, as the adapters have made it.
    ///
    /// - Parameters:
    ///   - queue: where `handler` is called. Defaults to the main queue.
    ///   - handler: receives the request.
    @preconcurrency
    @discardableResult
    public func onURLRequestCreation(
        on queue: DispatchQueue = .main,
        perform handler: @escaping @Sendable (HTTPRequest) -> Void
    ) -> Self {
        eventMonitor(AttemptMonitor(sent: { request in queue.async { handler(request) } }))
    }

    /// The requests of all attempts, until the request has ended.
    public func urlRequests() -> AsyncStream<HTTPRequest> {
        stream { continuation in eventMonitor(AttemptMonitor(sent: { continuation.yield($0) })) }
    }

    /// The requests of all attempts as `curl` commands, until the request has ended.
    public func cURLDescriptions() -> AsyncStream<String> {
        stream { continuation in
            let sent: @Sendable (HTTPRequest) -> Void = { [weak self] _ in
                if let self { continuation.yield(cURLDescription()) }
            }
            return eventMonitor(AttemptMonitor(sent: sent))
        }
    }

    /// The heads of the responses of all attempts, until the request has ended.
    public func httpResponses() -> AsyncStream<HTTPResponse> {
        stream { continuation in onHTTPResponse { continuation.yield($0) } }
    }

    /// The progress of the body of the request, until the request has ended.
    public func uploadProgress() -> AsyncStream<Progress> {
        stream { continuation in
            uploadProgress { (progress: Request.TransferProgress) in continuation.yield(Progress(progress)) }
        }
    }

    /// The progress of the content of the response, until the request has ended.
    public func downloadProgress() -> AsyncStream<Progress> {
        stream { continuation in
            downloadProgress { (progress: Request.TransferProgress) in continuation.yield(Progress(progress)) }
        }
    }

    private func stream<Value: Sendable>(
        _ start: (AsyncStream<Value>.Continuation) -> Request
    ) -> AsyncStream<Value> {
        let (stream, continuation) = AsyncStream.makeStream(of: Value.self)
        _ = start(continuation)
        // Also where the request has ended before.
        whenEnded { continuation.finish() }
        return stream
    }
}

/// Calls a closure with each attempt's request.
private struct AttemptMonitor: EventMonitor {
    let sent: @Sendable (HTTPRequest) -> Void

    func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) { self.sent(sent) }
}
