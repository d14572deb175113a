/// A loader whose type is hidden, or a loader made from a closure.
public struct AnyLoader: HTTPLoader {
    private let loading: @Sendable (HTTPRequest) async -> HTTPResult
    private let resetting: @Sendable () async -> Void
    private let hidden: (any HTTPLoader)?
    private let joint = Joint()

    /// Whether the hidden loader keeps time by itself.
    public let keepsTimeouts: Bool

    /// Hides the type of a loader.
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

    /// Loads a request with the hidden loader.
    public func load(_ request: HTTPRequest) async -> HTTPResult { await loading(request) }

    /// Resets the hidden loader.
    public func reset() async { await resetting() }
}

extension AnyLoader: TracedLoader {
    package func trace(_ place: inout ChainPlace) {
        place.pass(joint.identity, isLast: true)
        if let hidden { place.trace(hidden) }
    }
}
