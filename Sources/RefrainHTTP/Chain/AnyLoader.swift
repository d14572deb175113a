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
