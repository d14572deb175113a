internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Several transports, each with a thread of its own, among which the URLs are distributed.
///
/// All attempts of a request go by the same one, which remembers the addresses that have failed and the protocol that a
/// server wants (rule R33).
final class ShardedLoader: HTTPLoader {
    private let loaders: [any HTTPLoader]

    init(_ loaders: [any HTTPLoader]) { self.loaders = loaders }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        let hash = UInt(bitPattern: request.url.absoluteString.hashValue)
        return await loaders[Int(hash % UInt(loaders.count))].load(request)
    }

    func reset() async { for loader in loaders { await loader.reset() } }

    var keepsTimeouts: Bool { loaders.allSatisfy { $0.keepsTimeouts } }
}
