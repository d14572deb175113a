/// Cancels all requests in flight behind it on a reset.
///
/// For a part of a chain that is emptied without being closed. At the head of a chain, ``ResetGuard`` does the same and
/// refuses new requests meanwhile. A request that arrives during a reset is forwarded and is not part of that reset.
public struct Autocancel: HTTPMiddleware {
    private let flights = InFlightRequests(.staysOpen)

    /// Makes the stage.
    public init() {}

    /// Loads a request in a task that a reset can cancel.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await flights.load(request, next: next)
    }

    /// Cancels all requests in flight, and waits until they have returned.
    public func reset() async { await flights.reset() }

    /// Cancels all requests in flight, resets `next`, and waits until the requests have returned.
    public func reset(next: any HTTPLoader) async { await flights.reset { await next.reset() } }
}
