// SPDX-License-Identifier: Apache-2.0
/// Loads requests: a transport, a stub, or a complete chain.
///
/// ```swift
/// let throttle = Throttle(maximumNumberOfRequests: 4)
/// let loader = ResetGuard()
///     --> Retry(RetryPolicy.recommended)
///     --> throttle
///     --> PlatformLoader()
/// let response = try await loader.response(for: request)
/// ```
///
/// A conformer returns exactly one result per request, runs on the caller's actor, and returns early with
/// ``HTTPError/Code/cancelled`` when the calling task is cancelled. A type that needs another loader behind it conforms
/// to ``HTTPMiddleware`` instead.
public protocol HTTPLoader: Sendable {
    /// Loads a request.
    func load(_ request: HTTPRequest) async -> HTTPResult

    /// Cancels all requests in flight and restores the initial state; returns when no request is in flight.
    func reset() async

    /// Whether the loader itself enforces ``HTTPRequest/timeouts`` on each attempt.
    ///
    /// If true, the ``Timeout`` stage adds no timer of its own. Defaults to false.
    var keepsTimeouts: Bool { get }
}

extension HTTPLoader {
    /// Returns false.
    public var keepsTimeouts: Bool { false }

    /// Does nothing.
    public func reset() async {}

    /// Loads a request and returns its response, of any status.
    ///
    /// - Throws: ``HTTPError`` if there is no response.
    public func response(for request: HTTPRequest) async throws(HTTPError) -> HTTPResponse {
        try await load(request.withIdempotencyKeyWritten()).get()
    }
}

extension HTTPLoader {
    /// Resets the loader, and calls `completion` when no request is in flight.
    public func reset(completion: @escaping @Sendable () -> Void) {
        Task {
            await reset()
            completion()
        }
    }
}

/// A type-erased loader, or a loader made from closures.
public struct AnyLoader: HTTPLoader {
    private let loading: @Sendable (HTTPRequest) async -> HTTPResult
    private let resetting: @Sendable () async -> Void
    private let hidden: (any HTTPLoader)?
    private let link = ChainLink()

    /// Whether the wrapped loader enforces timeouts itself.
    public let keepsTimeouts: Bool

    /// Wraps a loader.
    public init(_ loader: any HTTPLoader) {
        loading = { await loader.load($0) }
        resetting = { await loader.reset() }
        keepsTimeouts = loader.keepsTimeouts
        hidden = loader
    }

    /// Makes a loader from closures.
    public init(
        reset: @escaping @Sendable () async -> Void = {},
        load: @escaping @Sendable (HTTPRequest) async -> HTTPResult
    ) {
        loading = load
        resetting = reset
        keepsTimeouts = false
        hidden = nil
    }

    /// Loads a request with the wrapped loader.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        do throws(HTTPError) {
            return await loading(try request.withIdempotencyKeyWritten())
        } catch {
            return .failure(error)
        }
    }

    /// Resets the wrapped loader.
    public func reset() async { await resetting() }
}

extension AnyLoader: IdentifiableLoader {
    package func trace(_ identity: inout ChainIdentity) {
        identity.pass(link.identity, isLast: true)
        if let hidden { identity.trace(hidden) }
    }
}
