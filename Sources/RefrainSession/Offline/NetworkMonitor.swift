/// Reports whether there is a network, and when it becomes available.
public protocol NetworkMonitor: Sendable {
    /// Whether there is a route beyond this machine.
    var isOnline: Bool { get }

    /// Calls `completion` once: with true when the network is available, or with false after `limit`.
    func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void)
}

/// The network monitor of the platform: the routing table on Linux, `NWPathMonitor` on Apple platforms.
public enum SystemNetwork {
    /// The shared monitor of the process.
    public static let monitor: any NetworkMonitor = PlatformNetworkMonitor()
}
