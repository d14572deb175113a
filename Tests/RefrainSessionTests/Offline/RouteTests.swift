// SPDX-License-Identifier: Apache-2.0
#if os(Linux)
import RefrainCore
@testable import RefrainSession
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("The network monitor of Linux", .timeLimit(.minutes(10)))
struct RouteTests {
    @Test("A: OfflineRetrier: a default route is found in the kernel's table for IPv4, if it is up and not a refusal")
    func ipv4() {
        let head = "Iface\tDestination\tGateway\tFlags\tRefCnt\tUse\tMetric\tMask\tMTU\tWindow\tIRTT\n"
        let subnet = "eth0\t0000A8C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\t0\t0\t0\n"
        #expect(!RoutingTable.hasDefaultRouteV4(""))
        #expect(!RoutingTable.hasDefaultRouteV4(head + subnet))
        #expect(RoutingTable.hasDefaultRouteV4(head + "eth0\t00000000\t0100A8C0\t0003\t0\t0\t0\t00000000\t0\t0\t0\n"))
        #expect(!RoutingTable.hasDefaultRouteV4(head + "eth0\t00000000\t0100A8C0\t0203\t0\t0\t0\t00000000\t0\t0\t0\n"))
        #expect(!RoutingTable.hasDefaultRouteV4(head + "eth0\t00000000\t0100A8C0\t0002\t0\t0\t0\t00000000\t0\t0\t0\n"))
        #expect(!RoutingTable.hasDefaultRouteV4(head + "nonsense\n\n"))
    }

    @Test(
        "A: OfflineRetrier: a default route is found in the kernel's table for IPv6, but not the one that refuses on lo"
    )
    func ipv6() {
        let zeros = String(repeating: "0", count: 32)
        let gateway = "fe80" + String(repeating: "0", count: 27) + "1"
        func line(_ flags: String, _ device: String) -> String {
            "\(zeros) 00 \(zeros) 00 \(gateway) 00000400 00000001 00000000 \(flags) \(device)\n"
        }
        #expect(RoutingTable.hasDefaultRouteV6(line("00000003", "eth0")))
        #expect(!RoutingTable.hasDefaultRouteV6(line("00200200", "lo")))
        #expect(!RoutingTable.hasDefaultRouteV6(line("00000203", "eth0")))
        #expect(!RoutingTable.hasDefaultRouteV6(""))
    }

    @Test(
        "A: OfflineRetrier: in a network namespace whose link goes down and up, the monitor tells of the return",
        .enabled(if: Namespace.isAvailable)
    )
    func namespace() async {
        let outcomes = Journal<String>()
        let done = Signal()
        Namespace.run {
            let monitor = PlatformNetworkMonitor()
            outcomes.append("at first: \(monitor.isOnline)")
            let late = ThreadSignal()
            monitor.whenOnline(within: .milliseconds(50)) { isOnline in
                outcomes.append("while down: \(isOnline)")
                late.signal()
            }
            late.wait()
            let back = ThreadSignal()
            monitor.whenOnline(within: .seconds(30)) { isOnline in
                outcomes.append("while it goes up: \(isOnline)")
                back.signal()
            }
            Namespace.shell("ip link set lo up && ip route add default dev lo")
            back.wait()
            outcomes.append("when up: \(monitor.isOnline)")
            Namespace.shell("ip link set lo down")
            outcomes.append("when down again: \(monitor.isOnline)")
            done.set()
        }
        await done.wait()
        #expect(
            outcomes.entries == [
                "at first: false", "while down: false", "while it goes up: true", "when up: true",
                "when down again: false",
            ]
        )
    }
}

/// A thread in a network namespace of its own; only root has the leave for it.
private enum Namespace {
    private typealias Unshare = @convention(c) (Int32) -> Int32

    private static let unshare: Unshare? = dlsym(nil, "unshare").map { unsafeBitCast($0, to: Unshare.self) }

    static let isAvailable: Bool = geteuid() == 0 && unshare != nil && canUnshare() && access("/bin/sh", X_OK) == 0

    /// CLONE_NEWNET.
    private static let newNetwork: Int32 = 0x4000_0000

    private final class Work {
        let body: () -> Void
        init(_ body: @escaping () -> Void) { self.body = body }
    }

    static func run(_ body: @escaping @Sendable () -> Void) {
        thread { if unshare?(newNetwork) == 0 { body() } }
    }

    /// Runs a command within the namespace of the calling thread.
    static func shell(_ command: String) {
        var child = pid_t()
        let words: [String] = ["/bin/sh", "-c", command]
        let arguments: [UnsafeMutablePointer<CChar>?] = words.map { word in strdup(word) }
        defer { for argument in arguments { free(argument) } }
        guard posix_spawn(&child, "/bin/sh", nil, nil, arguments + [nil], environ) == 0 else { return }
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    private static func canUnshare() -> Bool {
        let result = Journal<Bool>()
        let end = ThreadSignal()
        thread {
            let isAlone = unshare?(newNetwork) == 0
            if isAlone { shell("ip link set lo up && ip route add default dev lo") }
            result.append(isAlone && RoutingTable.hasDefaultRoute)
            end.signal()
        }
        end.wait()
        return result.entries == [true]
    }

    private static func thread(_ body: @escaping @Sendable () -> Void) {
        var thread = pthread_t()
        let work = Unmanaged.passRetained(Work(body))
        let started = pthread_create(
            &thread,
            nil,
            { context in
                if let context { Unmanaged<Work>.fromOpaque(context).takeRetainedValue().body() }
                return nil
            },
            work.toOpaque()
        )
        if started == 0 { pthread_detach(thread) } else { work.release() }
    }
}

/// Lets one thread wait for another: a pipe, which needs no more than libc.
private final class ThreadSignal: Sendable {
    private let ends: [Int32]

    init() {
        var ends: [Int32] = [-1, -1]
        pipe(&ends)
        self.ends = ends
    }

    deinit { for end in ends { close(end) } }

    func signal() {
        var byte: UInt8 = 1
        write(ends[1], &byte, 1)
    }

    func wait() {
        var byte: UInt8 = 0
        read(ends[0], &byte, 1)
    }
}
#endif
