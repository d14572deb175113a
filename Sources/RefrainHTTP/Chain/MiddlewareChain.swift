/// The precedence of `-->`: above `?:`, so that either branch may be a chain, and below `??`, so that a loader may be
/// chosen in place.
///
/// ```swift
/// let loader = isOffline ? Retry() --> mock : Retry() --> PlatformLoader()
/// let other = Retry(.recommended) --> custom ?? PlatformLoader()
/// ```
precedencegroup ChainPrecedence {
    associativity: right
    higherThan: TernaryPrecedence
    lowerThan: NilCoalescingPrecedence
}

infix operator --> : ChainPrecedence

/// Puts a stage before a loader; the result is a loader.
public func --> (stage: some HTTPMiddleware, loader: any HTTPLoader) -> ChainedLoader {
    ChainedLoader(stage: stage.inItsOwnChain, next: loader, link: ChainLink(), isWhole: true)
}

/// Puts a stage before another stage; the result is a stage, which still needs a loader.
public func --> <First, Second>(first: First, second: Second) -> ChainedMiddleware<First, Second> {
    ChainedMiddleware(first: first, second: second)
}

/// A stage and the loader that follows it: the result of `-->`, for a property that has no type annotation.
///
/// ```swift
/// enum API {
///     static let loader = Retry(.recommended) --> PlatformLoader()
/// }
/// ```
///
/// Both are stored as existentials, because stages are called with an existential loader.
public struct ChainedLoader: IdentifiableLoader {
    let stage: any HTTPMiddleware
    let next: any HTTPLoader
    let link: ChainLink
    /// Whether the link identifies the loader as well as the stage.
    let isWhole: Bool

    /// Passes the request to the stage.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        do throws(HTTPError) {
            return await stage.load(try request.withIdempotencyKeyWritten(), next: next)
        } catch {
            return .failure(error)
        }
    }

    /// Resets the stage and what follows it.
    public func reset() async { await stage.reset(next: next) }

    package func trace(_ identity: inout ChainIdentity) {
        identity.pass(link.identity, isLast: isWhole)
        identity.trace(stage)
        identity.trace(next)
    }
}

/// Two consecutive stages: the result of `-->` between them.
public struct ChainedMiddleware<First: HTTPMiddleware, Second: HTTPMiddleware>: HTTPMiddleware {
    let first: First
    let second: Second
    private let link = ChainLink()

    init(first: First, second: Second) {
        self.first = first
        self.second = second
    }

    /// Passes the request to the first stage.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await first.load(request, next: second(before: next))
    }

    /// Resets both stages.
    public func reset() async {
        await first.reset()
        await second.reset()
    }

    /// Resets both stages and what follows them.
    public func reset(next: any HTTPLoader) async {
        await first.reset(next: second(before: next))
    }

    private func second(before next: any HTTPLoader) -> ChainedLoader {
        ChainedLoader(stage: second, next: next, link: link, isWhole: false)
    }
}

extension ChainedMiddleware: PerChainMiddleware {
    package func forChain() -> ChainedMiddleware {
        ChainedMiddleware(first: first.inItsOwnChain, second: second.inItsOwnChain)
    }
}

extension ChainedMiddleware: CredentialScoped {
    var userGeneration: Int {
        [first as any HTTPMiddleware, second].reduce(0) { $0 &+ (($1 as? any CredentialScoped)?.userGeneration ?? 0) }
    }
}
