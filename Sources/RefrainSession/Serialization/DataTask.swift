/// The value of a request's response, to be awaited: what `serializingDecodable(_:)` and its siblings hand out.
///
/// The request starts when the task is made. A task that awaits it and is cancelled cancels the request, unless it was
/// made otherwise.
public struct DataTask<Value: Sendable>: Sendable {
    // One reference: what those who wait hold in their frames is kept by each of them.
    private let reading: Reading

    private final class Reading: Sendable {
        let request: DataRequest
        let cancelsAutomatically: Bool
        // The whole response, so that the types that it is made of are looked up where they are known.
        let read: @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<Value>

        init(
            _ request: DataRequest,
            _ cancelsAutomatically: Bool,
            _ read: @escaping @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<Value>
        ) {
            self.request = request
            self.cancelsAutomatically = cancelsAutomatically
            self.read = read
        }

        @inline(never)
        func resumeAtEnd(_ waiter: UnsafeContinuation<Void, Never>) { request.resumeAtEnd(waiter) }

        func isCancelled() {
            if cancelsAutomatically { request.cancel() }
        }

        // Apart, so that whoever waits has no room for what comes afterwards.
        @inline(never)
        func responseAtEnd() -> DataResponse<Value> {
            let (outcome, sent) = request.ending
            return read(outcome, sent)
        }
    }

    init(
        _ request: DataRequest,
        cancelsAutomatically: Bool,
        read: @escaping @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<Value>
    ) {
        reading = Reading(request, cancelsAutomatically, read)
        request.startIfWanted()
    }

    /// Everything that is known when the request has finished.
    public var response: DataResponse<Value> {
        get async {
            let reading = reading
            while !reading.request.hasEnded() {
                await withTaskCancellationHandler {
                    await withUnsafeContinuation { reading.resumeAtEnd($0) }
                } onCancel: {
                    reading.isCancelled()
                }
            }
            return reading.responseAtEnd()
        }
    }

    /// The value, or why there is none.
    public var result: Result<Value, RefrainError> { get async { await response.result } }

    /// The value.
    ///
    /// - Throws: ``RefrainError``.
    public var value: Value { get async throws(RefrainError) { try await response.result.get() } }

    /// Cancels the request.
    public func cancel() { reading.request.cancel() }
    /// Lets the request go on.
    public func resume() { reading.request.resume() }
    /// Holds the request.
    public func suspend() { reading.request.suspend() }
}
