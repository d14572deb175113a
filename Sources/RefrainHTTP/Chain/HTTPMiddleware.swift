// SPDX-License-Identifier: Apache-2.0
/// A stage of a chain: processes requests and forwards them to the next loader.
///
/// ```swift
/// struct CountRequests: HTTPMiddleware {
///     let counter: Counter
///     func load(
///         _ request: HTTPRequest, next: any HTTPLoader
///     ) async -> HTTPResult {
///         counter.increment()
///         return await next.load(request)
///     }
/// }
/// ```
///
/// A stage is a value that does not refer to the stages after it. The operator `-->` joins it to a loader, so a chain
/// without a transport does not compile as a loader.
public protocol HTTPMiddleware: Sendable {
    /// Processes a request. Forwards it to `next`, changed or unchanged, any number of times or not at all.
    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult

    /// Cancels all requests that the stage itself holds. The chain resets the loaders after it.
    func reset() async

    /// Resets the stage and everything after it. The chain calls this method.
    ///
    /// The default resets the stage, then `next`. A stage that must refuse requests until the rest has been reset, such
    /// as ``ResetGuard``, implements another order.
    func reset(next: any HTTPLoader) async
}

extension HTTPMiddleware {
    /// Does nothing.
    public func reset() async {}

    /// Resets the stage, then `next`.
    public func reset(next: any HTTPLoader) async {
        await reset()
        await next.reset()
    }
}
