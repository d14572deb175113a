// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

#if os(Linux)
#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: connections on which nothing is acknowledged any more", .timeLimit(.minutes(10)))
struct SilentConnectionTests {
    /// Lets the kernel drop all that arrives on this process's connections to a port, acknowledgements included, as
    /// where a router has forgotten them; returns how many there are.
    private func silence(port: UInt16) -> Int {
        var count = 0
        for descriptor in Int32(0)..<65_536 {
            var address = sockaddr_in()
            var length = socklen_t(MemoryLayout<sockaddr_in>.size)
            let status = withUnsafeMutablePointer(to: &address) { pointer in
                pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { getpeername(descriptor, $0, &length) }
            }
            guard status == 0, address.sin_family == AF_INET, address.sin_port.bigEndian == port else { continue }
            // A program of one instruction, BPF_RET with 0: not a byte of any packet is taken.
            var instruction: UInt64 = 6
            let wasSet = withUnsafeMutablePointer(to: &instruction) { instruction in
                var program = (UInt64(1), instruction)
                return setsockopt(descriptor, SOL_SOCKET, 26, &program, socklen_t(MemoryLayout.size(ofValue: program)))
            }
            if wasSet == 0 { count += 1 }
        }
        return count
    }

    /// A request whose attempt is given up after TCP has sent it again in vain.
    private func brief(_ url: String) throws -> HTTPRequest {
        var request = try HTTPRequest(url)
        request.attemptTimeout = .milliseconds(1_200)
        return request
    }

    /// Sends a request again where an attempt is lost: on a busy machine the one before may have ended before TCP had
    /// sent anything twice.
    private func again(_ url: String, _ loader: CurlLoader) async throws -> HTTPResponse {
        var request = try HTTPRequest(url)
        request.attemptTimeout = .seconds(5)
        return try await (Retry(.immediately(maxAttempts: 4)) --> loader).response(for: request)
    }

    /// A server that answers each stream of HTTP/2 with a head (RFC 9113 §4.1), and a loader that trusts it.
    ///
    /// The second request of the first connection is not answered, but counted, where `held` is there.
    private func multiplexing(held: Counter? = nil) throws -> (RawServer, TLSFixture, CurlLoader) {
        let server = RawServer { connection in
            guard connection.read(24) != nil else { return }
            connection.write([0, 0, 0, 4, 0, 0, 0, 0, 0])
            while let (type, _, stream) = connection.readFrame() {
                guard type == 1 else { continue }
                if let held, held.value == 0, stream == [0, 0, 0, 3] {
                    held.add(1)
                } else {
                    connection.write([0, 0, 1, 1, 5] + stream + [0x88])
                }
            }
        }
        let fixture = try TLSFixture(upstreamPort: server.port, alpn: ["h2"])
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        return (server, fixture, try CurlLoader(configuration: configuration))
    }

    @Test("over HTTP/2 the next request goes over a connection of its own", arguments: [true, false])
    func multiplexed(isTimeout: Bool) async throws {
        let (server, fixture, loader) = try multiplexing()
        defer { withExtendedLifetime(server) { fixture.stop() } }
        let url = fixture.baseURL + "/"
        #expect(try await loader.response(for: HTTPRequest(url)).exchange.version == "2")
        try #require(silence(port: fixture.port) == 1)
        let lost: HTTPResult
        if isTimeout {
            lost = await loader.load(try brief(url))
        } else {
            let cancelled = Task { await loader.load(try HTTPRequest(url)) }
            try await Task.sleep(for: .milliseconds(1_200))
            cancelled.cancel()
            lost = try await cancelled.value
        }
        #expect(try failure(of: lost).code == (isTimeout ? .timedOut : .cancelled))
        #expect(try await again(url, loader).status == 200)
        #expect(server.connectionCount == 2)
    }

    @Test("one that others share is ended when nothing has been acknowledged for ten seconds")
    func shared() async throws {
        let held = Counter()
        let (server, fixture, loader) = try multiplexing(held: held)
        defer { withExtendedLifetime(server) { fixture.stop() } }
        let url = fixture.baseURL + "/"
        #expect(try await loader.response(for: HTTPRequest(url)).exchange.version == "2")
        let hasEnded = Counter()
        let other = Task {
            let result = await loader.load(try HTTPRequest(url))
            hasEnded.add(1)
            return result
        }
        #expect(await eventually { held.value == 1 })
        try #require(silence(port: fixture.port) == 1)
        #expect(try failure(of: await loader.load(try brief(url))).code == .timedOut)
        #expect(hasEnded.value == 0)
        var request = try HTTPRequest(url)
        request.attemptTimeout = .milliseconds(11_500)
        #expect(try failure(of: await loader.load(request)).code == .timedOut)
        // It would wait for a minute.
        let start = ContinuousClock.now
        #expect(try failure(of: await other.value).code == .networkConnectionLost)
        #expect(ContinuousClock.now - start < .seconds(20))
        #expect(try await again(url, loader).status == 200)
        #expect(server.connectionCount == 2)
    }

    @Test("connections that were unused since before are not used again, and those that are used later are")
    func pool() async throws {
        let server = try FaultServer()
        let loader = CurlLoader()
        try await concurrently(3, inFlight: 3) { _ in
            let response = try await loader.response(for: HTTPRequest(server.baseURL + "/delay?ms=300"))
            #expect(response.status == 200)
        }
        try #require(silence(port: server.port) == 3)
        let lost = await loader.load(try brief(server.baseURL + "/ok"))
        #expect(try failure(of: lost).code == .timedOut)
        server.clearLog()
        for _ in 0..<4 {
            #expect(try await again(server.baseURL + "/ok", loader).status == 200)
        }
        #expect(Set(server.log.map(\.connection)).count == 1)
    }

    @Test("what is idle for too long is not used again either, also to another origin")
    func idleTime() async throws {
        let server = try FaultServer()
        let other = try FaultServer()
        var configuration = CurlLoader.Configuration()
        configuration.maximumIdleTime = .seconds(1)
        let loader = try CurlLoader(configuration: configuration)
        // On a busy machine a connection can be idle for too long before it is used again.
        var isLost = false
        for _ in 0..<10 where !isLost {
            _ = try await again(server.baseURL + "/ok", loader)
            // A busy machine closes it first.
            guard silence(port: server.port) > 0 else { continue }
            if case .failure(let error) = await loader.load(try brief(server.baseURL + "/ok")) {
                isLost = error.code == .timedOut
            }
        }
        #expect(isLost)
        _ = try await again(server.baseURL + "/ok", loader)
        _ = try await loader.response(for: HTTPRequest(other.baseURL + "/ok"))
        try await Task.sleep(for: .milliseconds(2_500))
        let later = try await loader.response(for: HTTPRequest(other.baseURL + "/ok"))
        #expect(!later.exchange.reusedConnection)
    }
}
#endif
