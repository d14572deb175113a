precedencegroup ChainPrecedence {
    associativity: right
    higherThan: AssignmentPrecedence
}

infix operator --> : ChainPrecedence

/// Puts a stage before a loader; the result is a loader.
public func --> (stage: some HTTPMiddleware, loader: some HTTPLoader) -> some HTTPLoader {
    ChainedLoader(stage: stage, next: loader)
}

/// Puts a stage before another stage; the result is a stage, which still needs a loader.
public func --> (first: some HTTPMiddleware, second: some HTTPMiddleware) -> some HTTPMiddleware {
    ChainedMiddleware(first: first, second: second)
}

/// A stage and the loader that follows it.
///
/// The next loader is kept as the existential that stages are called with, so that a request costs no box. The stage is
/// one, too: the methods that a generic type has for a protocol are never specialised, and would cost each request two
/// frames more for each stage.
struct ChainedLoader: HTTPLoader {
    let stage: any HTTPMiddleware
    let next: any HTTPLoader

    func load(_ request: HTTPRequest) async -> HTTPResult { await stage.load(request, next: next) }

    func reset() async { await stage.reset(next: next) }
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
