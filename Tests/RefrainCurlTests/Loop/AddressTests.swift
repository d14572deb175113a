// SPDX-License-Identifier: Apache-2.0
import CurlShim
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCurl

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: hosts with several addresses", .timeLimit(.minutes(10)))
struct AddressTests {
    /// A port on 127.0.0.2 that accepts connections into its queue until it is full; from then on none is answered.
    private final class BlackHole {
        private var sockets: [Int32] = []

        init?(port: UInt16) {
            let listener = open(port) { bind($0, $1, $2) }
            guard let listener, listen(listener, 0) == 0 else { return nil }
            for _ in 0..<3 {
                _ = open(port) { socket, address, length in
                    _ = fcntl(socket, F_SETFL, O_NONBLOCK)
                    _ = connect(socket, address, length)
                    return 0
                }
            }
            // The queue takes one connection, as a rule at once.
            var isFull = false
            for _ in 0..<2000 where !isFull {
                isFull = sockets.dropFirst().contains { socket in
                    var writable = pollfd(fd: socket, events: Int16(POLLOUT), revents: 0)
                    return poll(&writable, 1, 0) > 0
                }
                usleep(5_000)
            }
            guard isFull else { return nil }
        }

        private func open(_ port: UInt16, _ use: (Int32, UnsafePointer<sockaddr>, socklen_t) -> Int32) -> Int32? {
            let descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue) | Int32(SOCK_CLOEXEC.rawValue), 0)
            sockets.append(descriptor)
            var address = sockaddr_in()
            address.sin_family = sa_family_t(AF_INET)
            address.sin_port = port.bigEndian
            address.sin_addr.s_addr = UInt32(0x7F00_0002).bigEndian
            let result = withUnsafePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                    use(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
                }
            }
            return result == 0 ? descriptor : nil
        }

        deinit { for socket in sockets { close(socket) } }
    }

    /// Whether libcurl connects to the next address of a family while the one before it is silent.
    private static let triesAddressesAtOnce = refrain_version() >= 0x081000

    private func loader(_ entries: [String]) throws -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.overrides.resolve = entries
        return try CurlLoader(configuration: configuration)
    }

    @Test("R33: an address that did not answer is tried after the others from then on")
    func silentAddress() async throws {
        let server = try FaultServer()
        let hole = try #require(BlackHole(port: server.port))
        let loader = try loader(["two.test:\(server.port):127.0.0.2,127.0.0.1"])
        var request = try HTTPRequest("http://two.test:\(server.port)/ok")
        request.timeouts.connect = .seconds(8)
        request.needsFreshConnection = true
        let clock = ContinuousClock()
        var start = clock.now
        // Half of the time is for the silent address, and the rest for the other one; from 8.16 on libcurl begins with
        // the other one while the first is silent.
        #expect(try await loader.response(for: request).status == 200)
        #expect(clock.now - start >= (Self.triesAddressesAtOnce ? .milliseconds(190) : .milliseconds(3900)))
        start = clock.now
        #expect(try await loader.response(for: request).status == 200)
        #expect(clock.now - start < .milliseconds(3900))
        withExtendedLifetime(hole) {}
    }

    @Test("R33: an address that refuses is followed by the next one at once, however many refuse")
    func refusingAddresses() async throws {
        let server = try FaultServer()
        let refusing = (2...9).map { "127.0.0.\($0)" }.joined(separator: ",")
        let loader = try loader(["many.test:\(server.port):\(refusing),127.0.0.1"])
        var request = try HTTPRequest("http://many.test:\(server.port)/ok")
        request.timeouts.connect = .seconds(60)
        let start = ContinuousClock.now
        #expect(try await loader.response(for: request).status == 200)
        // Half of the time to connect was for the first one.
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(server.connectionCount == 1)
    }

    @Test("R33: an attempt that runs out of time at an address leaves the next one to the others")
    func tooSlowAddress() async throws {
        let server = try FaultServer()
        let hole = try #require(BlackHole(port: server.port))
        let loader = try loader(["two.test:\(server.port):127.0.0.2,127.0.0.1"])
        var request = try HTTPRequest("http://two.test:\(server.port)/ok")
        request.attemptTimeout = .seconds(3)
        request.timeouts.connect = .seconds(60)
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        let response = try await (Retry(policy, budgets: nil) --> loader).response(for: request)
        #expect(response.attempts.map(\.error) == (Self.triesAddressesAtOnce ? [nil] : [.timedOut, nil]))
        withExtendedLifetime(hole) {}
    }

    @Test("R33: an address that was tried only at the end of the time does not count as failed")
    func triedTooLate() {
        let key = { (port: UInt16) in
            var address = curl_sockaddr()
            address.family = AF_INET
            address.addrlen = UInt32(MemoryLayout<sockaddr_in>.size)
            withUnsafeMutableBytes(of: &address.addr) { $0.storeBytes(of: port, toByteOffset: 2, as: UInt16.self) }
            return AddressKey(&address)
        }
        var opened = OpenedSockets()
        #expect(opened.failed(timedOut: true, now: 0).isEmpty)
        opened.append(3, to: key(1), now: 0, timeLeft: 2_000_000_000)
        #expect(opened.nextCheck == 1_005_000_000)
        #expect(opened.failed(timedOut: true, now: 1000) == [key(1)])
        opened.append(4, to: key(2), now: 1_005_000_000, timeLeft: 995_000_000)
        opened.append(5, to: key(3), now: 1_900_000_000, timeLeft: 100_000_000)
        #expect(opened.failed(timedOut: true, now: 2_000_000_000) == [key(1), key(2)])
        #expect(opened.failed(timedOut: false, now: 2_000_000_000) == [key(1), key(2), key(3)])
    }

    @Test("libcurl is called again after half of the time, a few times, and not for ever")
    func looks() {
        var opened = OpenedSockets()
        var isDue = opened.isDue(now: .never - 1)
        #expect(!isDue)
        var address = curl_sockaddr()
        opened.append(3, to: AddressKey(&address), now: 100, timeLeft: 40_000_000)
        var looks: [Int64] = []
        while opened.nextCheck != .never, looks.count < 10 {
            let now = opened.nextCheck
            isDue = opened.isDue(now: now - 1)
            #expect(!isDue)
            isDue = opened.isDue(now: now)
            #expect(isDue)
            looks.append((now - 100) / 1_000_000)
        }
        #expect(looks == [25, 50, 175])
        opened.append(4, to: AddressKey(&address), now: 0, timeLeft: .never)
        #expect(opened.nextCheck == .never)
    }

    @Test("R33: where all addresses failed before, they are tried all the same")
    func allFailed() async throws {
        for _ in 1...20 {
            let refusing = try FaultServer(mode: .refuse)
            let port = refusing.port
            let loader = try loader(["two.test:\(port):127.0.0.2,127.0.0.1"])
            let request = try HTTPRequest("http://two.test:\(port)/ok")
            for _ in 1...2 { #expect(try failure(of: await loader.load(request)).code == .cannotConnectToHost) }
            refusing.stop()
            // Another server may be given the port in between.
            guard let server = try? FaultServer(port: port) else { continue }
            #expect(try await loader.response(for: request).status == 200)
            return #expect(server.connectionCount == 1)
        }
        throw Unexpected()
    }
}
