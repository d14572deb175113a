internal import Refrain

/// Several transports that take turns, each with a thread of its own.
final class RoundRobinLoader: HTTPLoader {
    private let loaders: [AnyLoader]
    private let last = Locked(0)

    init(_ loaders: [AnyLoader]) { self.loaders = loaders }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        let number = last.withLock { last in
            last = (last + 1) % loaders.count
            return last
        }
        return await loaders[number].load(request)
    }

    func reset() async { for loader in loaders { await loader.reset() } }

    var keepsTimeouts: Bool { loaders.allSatisfy(\.keepsTimeouts) }
}
