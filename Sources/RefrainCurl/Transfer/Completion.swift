internal import RefrainHTTP

/// The receiver of a transfer's result.
enum Completion {
    /// No receiver, or none any more.
    case none
    /// A task that waits for it, and then takes the result from the transfer.
    ///
    /// The frames of a task that waits for a result have room for it, three times 40 bytes here.
    case task(UnsafeContinuation<Void, Never>)
}

extension Transfer {
    /// Tells the receiver of the result, which happens once.
    func finish(_ result: HTTPResult) {
        guard case .task(let continuation) = completion else { return }
        completion = .none
        self.result = result
        continuation.resume()
    }

    /// Hands it over to its loop, for a task that waits.
    func submit(_ continuation: UnsafeContinuation<Void, Never>) {
        guard let loop else { return continuation.resume() }
        loop.submit(self, .task(continuation))
    }

    /// Ends it, for the task that waits.
    func cancel() { loop?.cancel(self) }

    /// Returns the result, for the task that was told of it.
    func takeResult() -> HTTPResult {
        loop = nil
        return result.take() ?? .failure(HTTPError(.unknown, request: request))
    }
}
