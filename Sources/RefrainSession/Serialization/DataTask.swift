/// The value of a request's response, to be awaited: what `serializingDecodable(_:)` and its siblings hand out.
///
/// The request starts when the task is made. A task that awaits it and is cancelled cancels the request, unless it was
/// made otherwise.
public struct DataTask<Value: Sendable>: Sendable {
    private let request: DataRequest
    private let cancelsAutomatically: Bool
    // The whole response, so that the types that it is made of are looked up where they are known.
    private let read: @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<Value>

    init(
        _ request: DataRequest,
        cancelsAutomatically: Bool,
        read: @escaping @Sendable (consuming RequestOutcome, consuming HTTPRequest?) -> DataResponse<Value>
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        self.read = read
        request.startIfWanted()
    }

    /// Everything that is known when the request has finished.
    public var response: DataResponse<Value> {
        get async {
            // Asked here as well, to spare those who need not wait the rest.
            if !request.hasEnded { await request.ended(cancelsAutomatically: cancelsAutomatically) }
            return responseAtEnd()
        }
    }

    // Apart, so that whoever waits has no room for what comes afterwards.
    @inline(never)
    private func responseAtEnd() -> DataResponse<Value> {
        let (outcome, sent) = request.ending
        return read(outcome, sent)
    }

    /// The value, or why there is none.
    public var result: Result<Value, RefrainError> { get async { await response.result } }

    /// The value.
    ///
    /// - Throws: ``RefrainError``.
    public var value: Value { get async throws(RefrainError) { try await response.result.get() } }

    /// Cancels the request.
    public func cancel() { request.cancel() }
    /// Lets the request go on.
    public func resume() { request.resume() }
    /// Holds the request.
    public func suspend() { request.suspend() }
}
