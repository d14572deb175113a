// SPDX-License-Identifier: Apache-2.0
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

#if os(Linux)
#if canImport(Glibc)
internal import Glibc
#else
internal import Musl
#endif
internal import RefrainCore

/// Monitors the kernel's routing table; the network is online if there is a default route.
///
/// Rtnetlink reports changes. One thread listens while there are waiters or observers.
final class PlatformNetworkMonitor: OfflineRetrier.NetworkMonitor {
    private struct Waiter {
        let due: Int64
        let completion: @Sendable (Bool) -> Void
    }

    private struct Observer {
        let handler: @Sendable (Bool) -> Void
        var known: Bool?
    }

    private struct State {
        var waiters: [Waiter] = []
        var observers: [Int: Observer] = [:]
        var nextObserver = 0
        var isListening = false
    }

    private let state = Locked(State())

    var isOnline: Bool { RoutingTable.hasDefaultRoute }

    func whenOnline(within limit: Duration, _ completion: @escaping @Sendable (Bool) -> Void) {
        let (due, overflow) = Self.now.addingReportingOverflow(limit.delayInNanoseconds)
        let waiter = Waiter(due: overflow ? .max : due, completion: completion)
        listen { $0.waiters.append(waiter) }
    }

    /// Calls `handler` soon and after each change, until the result is deallocated.
    func observe(_ handler: @escaping @Sendable (Bool) -> Void) -> NetworkObservation {
        var number = 0
        listen { state in
            number = state.nextObserver
            state.nextObserver += 1
            state.observers[number] = Observer(handler: handler)
        }
        return NetworkObservation { [state, number] in state.withLock { $0.observers[number] = nil } }
    }

    /// Adds a waiter or an observer, and starts the thread if none listens.
    private func listen(for add: (inout State) -> Void) {
        let mustStart = state.withLock { state in
            add(&state)
            defer { state.isListening = true }
            return !state.isListening
        }
        if mustStart, !startThread() { endAll() }
    }

    private func startThread() -> Bool {
        var thread = pthread_t()
        let context = Unmanaged.passRetained(self)
        let started = pthread_create(
            &thread,
            nil,
            { context in
                if let context {
                    Unmanaged<PlatformNetworkMonitor>.fromOpaque(context).takeRetainedValue().listen()
                }
                return nil
            },
            context.toOpaque()
        )
        guard started == 0 else {
            context.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Completes all waiters with false if no thread could be started, which would leave them waiting.
    private func endAll() {
        let waiters = state.withLock { state in
            state.isListening = false
            defer { state.waiters = [] }
            return state.waiters
        }
        for waiter in waiters { waiter.completion(false) }
    }

    private func listen() {
        let socket = RouteSocket()
        // Opened before the table is read, so that no change in between is missed.
        while let timeout = completeWaiters() { socket.wait(milliseconds: timeout) }
    }

    /// Completes the waiters that are done, and calls the observers after a change; returns the time to listen for, or
    /// nil if nothing listens.
    private func completeWaiters() -> Int32? {
        let isOnline = isOnline
        let now = Self.now
        let (done, timeout) = state.withLock { state -> ([@Sendable (Bool) -> Void], Int32?) in
            var done = state.waiters.filter { isOnline || $0.due <= now }.map(\.completion)
            state.waiters.removeAll { isOnline || $0.due <= now }
            for (number, observer) in state.observers where observer.known != isOnline {
                state.observers[number]?.known = isOnline
                done.append(observer.handler)
            }
            let next = state.waiters.map(\.due).min()
            guard next != nil || !state.observers.isEmpty else {
                state.isListening = false
                return (done, nil)
            }
            // At least once a second, in case the kernel dropped a message or the socket could not be opened.
            return (done, Int32(next.map { min(1000, ($0 - now) / 1_000_000 + 1) } ?? 1000))
        }
        for completion in done { completion(isOnline) }
        return timeout
    }

    private static var now: Int64 {
        var time = timespec()
        clock_gettime(CLOCK_MONOTONIC, &time)
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}

/// A socket that receives changes of links, addresses and routes (rtnetlink(7)).
private struct RouteSocket: ~Copyable {
    private let descriptor: Int32

    /// RTMGRP_LINK, and the IPv4 and IPv6 groups of addresses and routes.
    private static let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400

    init() {
        #if canImport(Glibc)
        let kind = Int32(SOCK_RAW.rawValue) | Int32(SOCK_CLOEXEC.rawValue)
        #else
        let kind = SOCK_RAW | SOCK_CLOEXEC
        #endif
        // NETLINK_ROUTE is 0.
        descriptor = socket(AF_NETLINK, kind, 0)
        guard descriptor >= 0 else { return }
        // struct sockaddr_nl: family and padding, port (0: chosen by the kernel), groups.
        var address: [UInt32] = [0, 0, Self.groups]
        address.withUnsafeMutableBytes { bytes in
            bytes.storeBytes(of: UInt16(AF_NETLINK), as: UInt16.self)
            let length = socklen_t(bytes.count)
            guard let base = bytes.baseAddress else { return }
            _ = bind(descriptor, base.assumingMemoryBound(to: sockaddr.self), length)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    /// Returns after a change or after the timeout.
    func wait(milliseconds: Int32) {
        var entry = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
        // poll ignores a negative descriptor and waits for the timeout.
        guard poll(&entry, 1, milliseconds) > 0 else { return }
        var buffer = [UInt8](repeating: 0, count: 8192)
        let flags = Int32(truncatingIfNeeded: MSG_DONTWAIT)
        while recv(descriptor, &buffer, buffer.count, flags) > 0 {}
    }
}

/// The kernel's routing table of the thread's network namespace (proc_pid_net(5)).
enum RoutingTable {
    static var hasDefaultRoute: Bool {
        hasDefaultRouteV4(read("/proc/thread-self/net/route"))
            || hasDefaultRouteV6(read("/proc/thread-self/net/ipv6_route"))
    }

    /// Columns: interface, destination, gateway, flags, three counters, mask …; numbers are hexadecimal.
    static func hasDefaultRouteV4(_ text: String) -> Bool {
        text.split(separator: "\n").dropFirst().contains { line in
            let columns = line.split { $0 == "\t" || $0 == " " }
            guard columns.count > 7, let flags = UInt32(columns[3], radix: 16) else { return false }
            return UInt32(columns[1], radix: 16) == 0 && UInt32(columns[7], radix: 16) == 0 && isUsable(flags)
        }
    }

    /// Columns: destination, its prefix length, source, its prefix length, next hop, three counters, flags, interface.
    static func hasDefaultRouteV6(_ text: String) -> Bool {
        text.split(separator: "\n").contains { line in
            let columns = line.split { $0 == "\t" || $0 == " " }
            guard columns.count > 9, let flags = UInt32(columns[8], radix: 16) else { return false }
            return columns[0].utf8.allSatisfy { $0 == UInt8(ascii: "0") } && UInt32(columns[1], radix: 16) == 0
                && columns[9] != "lo" && isUsable(flags)
        }
    }

    /// RTF_UP without RTF_REJECT.
    private static func isUsable(_ flags: UInt32) -> Bool { flags & 0x1 != 0 && flags & 0x200 == 0 }

    private static func read(_ path: String) -> String {
        let descriptor = open(path, O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return "" }
        defer { close(descriptor) }
        var bytes: [UInt8] = []
        var buffer = [UInt8](repeating: 0, count: 16_384)
        // A default route is listed first, so one megabyte is enough.
        while bytes.count < 1 << 20 {
            let count = systemRead(descriptor, &buffer, buffer.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { break }
            bytes += buffer[..<count]
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

private func systemRead(_ descriptor: Int32, _ buffer: UnsafeMutableRawPointer, _ count: Int) -> Int {
    read(descriptor, buffer, count)
}
#endif
