/// Cancels, on a reset, every request that has passed it and has not returned yet.
///
/// It is for a part of a chain that is to be emptied without being closed; at the head of a chain ``ResetGuard`` does
/// the same, and refuses new requests in the meantime. A request that arrives during a reset is let through, and is not
/// part of that reset. The idea is from "HTTP in Swift".
public struct Autocancel: HTTPMiddleware {
    private let flights = Flights(.staysOpen)

    /// Makes the stage.
    public init() {}

    /// Loads a request in a task that a reset can cancel.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await flights.load(request, next: next)
    }

    /// Cancels every request that has passed, and waits until they have returned.
    public func reset() async { await flights.reset(next: nil) }

    /// Cancels every request that has passed, resets what follows, and waits until they have returned.
    public func reset(next: any HTTPLoader) async { await flights.reset(next: next) }
}
