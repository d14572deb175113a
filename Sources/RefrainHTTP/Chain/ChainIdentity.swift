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
