/// Something that can load a request on its own: a transport, a stub, or a finished chain.
///
/// ```swift
/// let throttle = try Throttle(maximumNumberOfRequests: 4)
/// let loader = ResetGuard() --> Retry(RetryPolicy.recommended) --> throttle --> CurlLoader()
/// let response = try await loader.response(for: request)
/// ```
///
/// A conformer answers each request exactly once, runs on whatever actor calls it, and ends early with
/// ``HTTPError/Code/cancelled`` when the calling task is cancelled. What needs another loader behind
/// it is an ``HTTPMiddleware`` instead. The idea is from "HTTP in Swift".
public protocol HTTPLoader: Sendable {
    /// Loads a request.
    func load(_ request: HTTPRequest) async -> HTTPResult

    /// Ends everything that is under way, and returns to the state of the beginning.
    ///
    /// It returns when nothing is under way any more.
    func reset() async

    /// Whether the loader itself ends a try that exceeds ``HTTPRequest/timeouts``, on a timer of its own.
    ///
    /// A transport that does answers true, which spares the ``Timeout`` stage a race. The default is false.
    var keepsTimeouts: Bool { get }
}

extension HTTPLoader {
    /// A loader keeps no time unless it says so.
    public var keepsTimeouts: Bool { false }

    /// Nothing to reset.
    public func reset() async {}

    /// Loads a request and returns its response, of any status.
    ///
    /// - Throws: ``HTTPError`` where there is no response.
    public func response(for request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await load(request).get()
    }
}
