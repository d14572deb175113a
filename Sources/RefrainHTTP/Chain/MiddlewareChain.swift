// SPDX-License-Identifier: Apache-2.0
/// The precedence of `-->`: above `?:`, so that either branch may be a chain, and below `??`, so that a loader may be
/// chosen in place.
///
/// ```swift
/// let loader = isOffline
///     ? Retry() --> mock
///     : Retry() --> PlatformLoader()
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

    /// The same stage before another loader.
    package func replacingNext(_ next: any HTTPLoader) -> ChainedLoader {
        ChainedLoader(stage: stage, next: next, link: link, isWhole: isWhole)
    }

    /// What the chain ends in: its transport.
    package var last: any HTTPLoader { (next as? ChainedLoader)?.last ?? next }

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

/// Identifies the rest of a chain after some stage, and the credentials that the rest currently uses.
///
/// Equal requests with equal identities may share one response. With different identities they may not: later stages
/// may sign them for different users or send them to different servers.
package struct ChainIdentity: Hashable, Sendable {
    /// The loaders that follow.
    private(set) var links: [ObjectIdentifier] = []
    /// The user generations of the stages that follow, in order.
    private(set) var generations: [Int] = []
    /// Whether the links identify the following loaders uniquely.
    private(set) var isKnown = false

    /// Makes the identity of a loader, which must be kept alive for as long as identities are compared.
    init(before loader: any HTTPLoader) { trace(loader) }

    /// Adds a following loader.
    package mutating func trace(_ loader: any HTTPLoader) {
        if let traced = loader as? any IdentifiableLoader {
            traced.trace(&self)
        } else if type(of: loader) is AnyClass {
            pass(ObjectIdentifier(loader as AnyObject), isLast: true)
        }
    }

    /// Adds a following stage.
    package mutating func trace(_ stage: any HTTPMiddleware) {
        if let generation = (stage as? any CredentialScoped)?.userGeneration { generations.append(generation) }
    }

    /// Adds the identity of one link.
    ///
    /// The last one also identifies everything after it.
    mutating func pass(_ link: ObjectIdentifier, isLast: Bool) {
        guard !isKnown else { return }
        links.append(link)
        isKnown = isLast
    }
}

/// The identity of one use of `-->`; unique to its chain.
final class ChainLink: Sendable {
    var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// A loader that can describe the loaders it forwards requests to.
package protocol IdentifiableLoader: HTTPLoader {
    /// Adds the loaders and stages that requests pass through after this one.
    func trace(_ identity: inout ChainIdentity)
}

/// A stage that authenticates requests for a user, which can change.
protocol CredentialScoped: HTTPMiddleware {
    /// The number of times the user's credential was discarded.
    var userGeneration: Int { get }
}

/// A stage that keeps separate state for each chain it is part of.
package protocol PerChainMiddleware: HTTPMiddleware {
    /// Returns a copy of the stage for one more chain.
    func forChain() -> Self
}

extension HTTPMiddleware {
    /// The stage as a chain of its own uses it.
    package var inItsOwnChain: Self { (self as? any PerChainMiddleware)?.forChain() as? Self ?? self }
}
