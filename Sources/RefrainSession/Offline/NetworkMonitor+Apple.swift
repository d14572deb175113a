#if canImport(Network)
internal import Dispatch
internal import Network
internal import RefrainCore

/// Monitors the network with `NWPathMonitor`; it is online if the default path is satisfied.
final class PlatformNetworkMonitor: OfflineRetrier.NetworkMonitor {
    fileprivate let queue = DispatchQueue(label: "refrain.network")
    private let monitor = NWPathMonitor()

    init() { monitor.start(queue: queue) }

    deinit { monitor.cancel() }

    var isOnline: Bool { monitor.currentPath.status == .satisfied }

    func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void) {
        let wait = NetworkWait(completion)
        let watcher = NWPathMonitor()
        watcher.pathUpdateHandler = { path in
            guard path.status == .satisfied else { return }
            wait.end(true)
            watcher.cancel()
        }
        watcher.start(queue: queue)
        queue.asyncAfter(deadline: .now() + min(limit.inSeconds, 86_400)) {
            wait.end(false)
            watcher.cancel()
        }
    }
}

extension PlatformNetworkMonitor {
    /// Calls `handler` soon and after each change, until the result is deallocated.
    func observe(_ handler: @escaping @Sendable (Bool) -> Void) -> NetworkObservation {
        let known = Locked<Bool?>(nil)
        let watcher = NWPathMonitor()
        watcher.pathUpdateHandler = { path in
            let isOnline = path.status == .satisfied
            let isChange = known.withLock { known in
                defer { known = isOnline }
                return known != isOnline
            }
            if isChange { handler(isOnline) }
        }
        watcher.start(queue: queue)
        return NetworkObservation { watcher.cancel() }
    }
}

/// A completion handler that is called once.
private final class NetworkWait: Sendable {
    private let completion: Locked<(@Sendable (Bool) -> Void)?>

    init(_ completion: @escaping @Sendable (Bool) -> Void) { self.completion = Locked(completion) }

    func end(_ isOnline: Bool) {
        let completion = completion.withLock { completion in
            defer { completion = nil }
            return completion
        }
        completion?(isOnline)
    }
}
#endif
