/// Where a request goes from some place of a chain, and for whom what follows speaks at the moment.
///
/// Requests of equal places that are equal themselves may have one answer. Those of different ones may not: what
/// follows may sign them for two users, or send them to two servers.
package struct ChainPlace: Hashable, Sendable {
    /// Which loaders follow.
    private(set) var joints: [ObjectIdentifier] = []
    /// How often the stages that follow have forgotten their user, in order.
    private(set) var generations: [Int] = []
    /// Whether the joints tell these loaders from all others.
    private(set) var isKnown = false

    /// The place before a loader, which must be kept for as long as this is compared with others.
    init(before loader: any HTTPLoader) { trace(loader) }

    /// Adds a loader that follows.
    package mutating func trace(_ loader: any HTTPLoader) {
        if let traced = loader as? any TracedLoader {
            traced.trace(&self)
        } else if type(of: loader) is AnyClass {
            pass(ObjectIdentifier(loader as AnyObject), isLast: true)
        }
    }

    /// Adds a stage that follows.
    mutating func trace(_ stage: any HTTPMiddleware) {
        if let generation = (stage as? any SpeaksForUser)?.userGeneration { generations.append(generation) }
    }

    /// Adds what tells a part of the chain from all others; the last one tells what comes behind it, too.
    mutating func pass(_ joint: ObjectIdentifier, isLast: Bool) {
        guard !isKnown else { return }
        joints.append(joint)
        isKnown = isLast
    }
}

/// What two parts of a chain were joined by: no two chains have the same.
final class Joint: Sendable {
    var identity: ObjectIdentifier { ObjectIdentifier(self) }
}

/// A loader that knows what it hands requests on to.
package protocol TracedLoader: HTTPLoader {
    /// Adds the loaders and stages that requests come to in here.
    func trace(_ place: inout ChainPlace)
}

/// A stage that signs for a user, who may be another one from some moment on.
protocol SpeaksForUser: HTTPMiddleware {
    /// How often the user was forgotten.
    var userGeneration: Int { get }
}

/// A stage that keeps apart what the chains have that it stands in.
package protocol BelongsToChain: HTTPMiddleware {
    /// The stage for one more chain.
    func forChain() -> Self
}

extension HTTPMiddleware {
    /// The stage as it stands in a chain of its own.
    package var inItsOwnChain: Self { (self as? any BelongsToChain)?.forChain() as? Self ?? self }
}
