extension OfflineRetrier {
    /// Reports whether there is a network, and when it becomes available.
    public protocol NetworkMonitor: Sendable {
        /// Whether there is a route beyond this machine.
        var isOnline: Bool { get }

        /// Calls `completion` once: with true when the network is available, or with false after `limit`.
        func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void)
    }
}

extension OfflineRetrier {
    /// The network monitor of the platform: the routing table on Linux, `NWPathMonitor` on Apple platforms.
    public enum SystemNetwork {
        /// The shared monitor of the process.
        public static var monitor: any NetworkMonitor { platform }

        private static let platform = PlatformNetworkMonitor()

        /// Calls `handler` with whether there is a network: once soon, and after each change, until the result is
        /// deallocated.
        package static func observe(_ handler: @escaping @Sendable (Bool) -> Void) -> NetworkObservation {
            platform.observe(handler)
        }
    }
}

/// Ends the calls of a handler when it is deallocated.
package final class NetworkObservation: Sendable {
    private let end: @Sendable () -> Void

    init(_ end: @escaping @Sendable () -> Void) { self.end = end }

    deinit { end() }
}
