/// Knows whether there is a network, and when there is one again.
public protocol NetworkMonitor: Sendable {
    /// Whether a network that leads beyond this machine is there now.
    var isOnline: Bool { get }

    /// Calls `completion` once: with true as soon as there is a network, or with false when the time is up.
    func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void)
}

/// The monitor of this platform: the routing table on Linux, `NWPathMonitor` on Apple's platforms.
public enum SystemNetwork {
    /// The monitor that the process shares.
    public static let monitor: any NetworkMonitor = PlatformNetworkMonitor()
}
