precedencegroup ChainPrecedence {
    associativity: right
    higherThan: AssignmentPrecedence
}

infix operator --> : ChainPrecedence

/// Puts a stage before a loader; the result is a loader.
public func --> (stage: some HTTPMiddleware, loader: some HTTPLoader) -> some HTTPLoader {
    ChainedLoader(stage: stage.inItsOwnChain, next: loader, joint: Joint(), isWhole: true)
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
struct ChainedLoader: TracedLoader {
    let stage: any HTTPMiddleware
    let next: any HTTPLoader
    let joint: Joint
    /// Whether the joint stands for the loader, too, and not for the stage alone.
    let isWhole: Bool

    func load(_ request: HTTPRequest) async -> HTTPResult { await stage.load(request, next: next) }

    func reset() async { await stage.reset(next: next) }

    func trace(_ place: inout ChainPlace) {
        place.pass(joint.identity, isLast: isWhole)
        place.trace(stage)
        place.trace(next)
    }
}

/// Two stages in a row.
struct ChainedMiddleware<First: HTTPMiddleware, Second: HTTPMiddleware>: HTTPMiddleware {
    let first: First
    let second: Second
    private let joint = Joint()

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
        ChainedLoader(stage: second, next: next, joint: joint, isWhole: false)
    }
}

extension ChainedMiddleware: BelongsToChain {
    func forChain() -> ChainedMiddleware {
        ChainedMiddleware(first: first.inItsOwnChain, second: second.inItsOwnChain)
    }
}

extension ChainedMiddleware: SpeaksForUser {
    var userGeneration: Int {
        [first as any HTTPMiddleware, second].reduce(0) { $0 &+ (($1 as? any SpeaksForUser)?.userGeneration ?? 0) }
    }
}
