// SPDX-License-Identifier: Apache-2.0
#if OpenAPI
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Retries the requests of a generated OpenAPI client over any transport, by the rules of Refrain.
///
/// ```swift
/// let client = Client(
///     serverURL: url,
///     transport: AsyncHTTPClientTransport(),
///     middlewares: [RetryMiddleware()]
/// )
/// ```
///
/// It runs the rest of the client's middlewares and the transport once for each attempt, behind a ``Retry`` stage:
/// the same strategy, server delays, budgets and records as in a chain. A foreign transport does not say how much of a
/// request it has sent, so every failure of it counts as one that may have reached the server: POST and PATCH are
/// retried after a failure only with an idempotency key or `replay = .allowed`, both of which `configure` can set
/// (rule R2). A body that can be iterated only once is not sent again after any of it was read (rule R4).
///
/// A transport's error is rethrown as it is when there is no further attempt. The time of an attempt is the
/// transport's to limit; `timeout` limits all of them together.
public struct RetryMiddleware: ClientMiddleware {
    private let retry: Retry
    private let streamsResponses: Bool
    private let configure: RefrainTransport.Configuration

    /// Makes the middleware.
    ///
    /// - Parameters:
    ///   - strategy: decides what is retried, and when. Defaults to `RetryPolicy.recommended`.
    ///   - budgets: the budgets that retries draw on. Defaults to those that the whole process shares.
    ///   - streamsResponses: whether bodies of responses are passed on as they arrive. By default they are collected
    ///     first, up to `maximumBodySize` of the request, so that a response that was cut short is retried.
    ///   - clocks: the clocks that delays are measured on.
    ///   - random: the source of jitter.
    ///   - configure: changes the request that the rules apply to: its `timeout`, `replay`, `idempotencyKey` or
    ///     `attemptObserver`. Header fields that it adds are sent; the body is not its to change.
    public init(
        _ strategy: any RetryStrategy = RetryPolicy.recommended,
        budgets: Retry.Budgets? = .shared,
        streamsResponses: Bool = false,
        clocks: RetryClocks = .system,
        random: RandomSource = .shared,
        configure: @escaping RefrainTransport.Configuration = { _, _ in }
    ) {
        retry = Retry(strategy, budgets: budgets, clocks: clocks, random: random)
        self.streamsResponses = streamsResponses
        self.configure = configure
    }

    /// Calls `next` once for each attempt.
    ///
    /// - Throws: the error of the last attempt; `CancellationError` where the calling task was cancelled; `HTTPError`
    ///   where the server asks for a longer delay than is allowed.
    public func intercept(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String,
        next: @concurrent @Sendable (HTTPRequest, HTTPBody?, URL) async throws -> (HTTPResponse, HTTPBody?)
    ) async throws -> (HTTPResponse, HTTPBody?) {
        var call = try RefrainRequest(request, relativeTo: baseURL, body: body.map(RefrainBody.init) ?? .empty)
        call.streamsResponse = streamsResponses
        configure(&call, operationID)
        return try await withoutActuallyEscaping(next) { [call] next in
            let loader = ForwardingLoader(request: request, body: body, baseURL: baseURL, next: next)
            return try loader.answer(to: await retry.load(call, next: loader))
        }
    }
}
#endif
