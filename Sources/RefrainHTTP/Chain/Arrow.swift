precedencegroup ChainPrecedence {
    associativity: right
    higherThan: AssignmentPrecedence
}

infix operator --> : ChainPrecedence

/// Puts a stage before a loader; the result is a loader.
@inlinable
public func --> (stage: some HTTPMiddleware, loader: some HTTPLoader) -> some HTTPLoader {
    ChainedLoader(stage: stage, next: loader)
}

/// Puts a stage before another stage; the result is a stage, which still needs a loader.
public func --> (first: some HTTPMiddleware, second: some HTTPMiddleware) -> some HTTPMiddleware {
    ChainedMiddleware(first: first, second: second)
}

/// A stage and the loader that follows it.
///
/// The next loader is kept as the existential that stages are called with, so that a request costs no box. It can be
/// inlined, so that where a chain is made of known stages it calls them without a table.
@usableFromInline
struct ChainedLoader<Stage: HTTPMiddleware>: HTTPLoader {
    @usableFromInline let stage: Stage
    @usableFromInline let next: any HTTPLoader

    @inlinable
    init(stage: Stage, next: any HTTPLoader) {
        self.stage = stage
        self.next = next
    }

    @inlinable
    func load(_ request: HTTPRequest) async -> HTTPResult {
        await stage.load(request, next: next)
    }

    @inlinable
    func reset() async {
        await stage.reset(next: next)
    }
}

/// Two stages in a row.
struct ChainedMiddleware<First: HTTPMiddleware, Second: HTTPMiddleware>: HTTPMiddleware {
    let first: First
    let second: Second

    func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await first.load(request, next: ChainedLoader(stage: second, next: next))
    }

    func reset() async {
        await first.reset()
        await second.reset()
    }

    func reset(next: any HTTPLoader) async {
        await first.reset(next: ChainedLoader(stage: second, next: next))
    }
}
