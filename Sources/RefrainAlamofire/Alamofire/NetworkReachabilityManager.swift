// SPDX-License-Identifier: Apache-2.0
public import Dispatch
internal import Synchronization

/// Whether there is a network, and each change of that, under Alamofire's names.
///
/// ```swift
/// let manager = NetworkReachabilityManager.default
/// manager?.startListening { status in
///     print("the network is \(status)")
/// }
/// ```
///
/// It answers for the machine, by its routes, and for no single host: whether a host answers is known by asking it. The
/// kind of network is not known, so that each one counts as Ethernet or Wi-Fi.
public final class NetworkReachabilityManager: Sendable {
    /// Whether there is a network.
    public enum NetworkReachabilityStatus: Hashable, Sendable {
        /// It is not known so far.
        case unknown
        /// There is none.
        case notReachable
        /// There is one.
        case reachable(ConnectionType)

        /// The kind of network.
        public enum ConnectionType: Hashable, Sendable {
            /// Any that is not known to be another one.
            case ethernetOrWiFi
            /// A cellular one.
            case cellular
        }
    }

    /// Receives the status.
    public typealias Listener = @Sendable (NetworkReachabilityStatus) -> Void

    /// The shared manager; never nil.
    public static let `default`: NetworkReachabilityManager? = NetworkReachabilityManager()

    private let observation = Mutex<NetworkObservation?>(nil)

    /// Makes a manager; never nil.
    public init?() {}

    /// Whether there is a network.
    public var isReachable: Bool { OfflineRetrier.SystemNetwork.monitor.isOnline }
    /// Always false: the kind of network is not known.
    public var isReachableOnCellular: Bool { false }
    /// Whether there is a network.
    public var isReachableOnEthernetOrWiFi: Bool { isReachable }
    /// The present status.
    public var status: NetworkReachabilityStatus { Self.status(isReachable) }

    /// Calls `listener` with the present status, and then after each change; an earlier listener is not called again.
    ///
    /// - Parameters:
    ///   - queue: where `listener` is called. Defaults to the main queue.
    ///   - listener: receives the status.
    /// - Returns: true.
    @preconcurrency
    @discardableResult
    public func startListening(
        onQueue queue: DispatchQueue = .main,
        onUpdatePerforming listener: @escaping Listener
    ) -> Bool {
        let next = OfflineRetrier.SystemNetwork.observe { isOnline in
            queue.async { listener(Self.status(isOnline)) }
        }
        observation.withLock { $0 = next }
        return true
    }

    /// Ends the calls of the listener.
    public func stopListening() { observation.withLock { $0 = nil } }

    private static func status(_ isOnline: Bool) -> NetworkReachabilityStatus {
        isOnline ? .reachable(.ethernetOrWiFi) : .notReachable
    }
}
