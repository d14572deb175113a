internal import RefrainHTTP

/// The receiver of a transfer's result.
enum Completion {
    /// No receiver, or the result was delivered.
    case none
    /// The task that is suspended until the transfer has a result, and then takes it from the transfer.
    ///
    /// Passing the result through the continuation would take three times 40 bytes in the frames of the waiting task.
    case task(UnsafeContinuation<Void, Never>)
}

extension Transfer {
    /// Stores the result and resumes the waiting task; later calls do nothing.
    func finish(_ result: HTTPResult) {
        guard case .task(let continuation) = completion else { return }
        completion = .none
        self.result = result
        continuation.resume()
    }

    /// Submits the transfer to its loop; the continuation is resumed when the transfer has a result.
    func submit(_ continuation: UnsafeContinuation<Void, Never>) {
        guard let loop else { return continuation.resume() }
        loop.submit(self, .task(continuation))
    }

    /// Cancels the transfer.
    func cancel() { loop?.cancel(self) }

    /// Removes and returns the result; called by the resumed task.
    func takeResult() -> HTTPResult {
        loop = nil
        return result.take() ?? .failure(HTTPError(.unknown, request: request))
    }
}
