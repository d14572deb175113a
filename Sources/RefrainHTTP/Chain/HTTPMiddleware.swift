/// A stage of a chain: something that treats a request, and needs a loader after it.
///
/// ```swift
/// struct CountRequests: HTTPMiddleware {
///     let counter: Counter
///     func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
///         counter.increment()
///         return await next.load(request)
///     }
/// }
/// ```
///
/// A stage is a value that does not know what follows it: the operator `-->` joins it to a
/// loader, so a chain without a transport does not compile as a loader.
public protocol HTTPMiddleware: Sendable {
    /// Treats a request, and hands it on, changed or not, once, several times or never.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult

    /// Ends everything that the stage itself holds. The chain resets the loaders after it.
    func reset() async

    /// Resets the stage and everything after it; this is the form that the chain calls.
    ///
    /// The default resets the stage, then what follows. A stage that must stand guard until the rest has
    /// been reset, such as ``ResetGuard``, has its own order.
    func reset(next: any HTTPLoader) async
}

extension HTTPMiddleware {
    /// Nothing to reset.
    public func reset() async {}

    /// Resets the stage, then what follows.
    public func reset(next: any HTTPLoader) async {
        await reset()
        await next.reset()
    }
}
