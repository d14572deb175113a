precedencegroup ChainPrecedence {
    associativity: right
    higherThan: AssignmentPrecedence
}

infix operator --> : ChainPrecedence

/// Puts a stage before a loader; the result is a loader.
public func --> (stage: some HTTPMiddleware, loader: any HTTPLoader) -> some HTTPLoader {
    ChainedLoader(stage: stage.inItsOwnChain, next: loader, link: ChainLink(), isWhole: true)
}

/// Puts a stage before another stage; the result is a stage, which still needs a loader.
public func --> (first: some HTTPMiddleware, second: some HTTPMiddleware) -> some HTTPMiddleware {
    ChainedMiddleware(first: first, second: second)
}

/// A stage and the loader that follows it.
///
/// Both are stored as existentials, because stages are called with an existential loader.
struct ChainedLoader: IdentifiableLoader {
    let stage: any HTTPMiddleware
    let next: any HTTPLoader
    let link: ChainLink
    /// Whether the link identifies the loader as well as the stage.
    let isWhole: Bool

    func load(_ request: HTTPRequest) async -> HTTPResult {
        do throws(HTTPError) {
            return await stage.load(try request.withIdempotencyKeyWritten(), next: next)
        } catch {
            return .failure(error)
        }
    }

    func reset() async { await stage.reset(next: next) }

    func trace(_ identity: inout ChainIdentity) {
        identity.pass(link.identity, isLast: isWhole)
        identity.trace(stage)
        identity.trace(next)
    }
}

/// Two consecutive stages.
struct ChainedMiddleware<First: HTTPMiddleware, Second: HTTPMiddleware>: HTTPMiddleware {
    let first: First
    let second: Second
    private let link = ChainLink()

    init(first: First, second: Second) {
        self.first = first
        self.second = second
    }

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await first.load(request, next: second(before: next))
    }

    func reset() async {
        await first.reset()
        await second.reset()
    }

    func reset(next: any HTTPLoader) async {
        await first.reset(next: second(before: next))
    }

    private func second(before next: any HTTPLoader) -> ChainedLoader {
        ChainedLoader(stage: second, next: next, link: link, isWhole: false)
    }
}

extension ChainedMiddleware: PerChainMiddleware {
    func forChain() -> ChainedMiddleware {
        ChainedMiddleware(first: first.inItsOwnChain, second: second.inItsOwnChain)
    }
}

extension ChainedMiddleware: CredentialScoped {
    var userGeneration: Int {
        [first as any HTTPMiddleware, second].reduce(0) { $0 &+ (($1 as? any CredentialScoped)?.userGeneration ?? 0) }
    }
}
