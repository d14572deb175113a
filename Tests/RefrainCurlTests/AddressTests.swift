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

@Suite("CurlLoader: hosts with several addresses")
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
            usleep(20_000)
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
        request.timeouts.connect = .seconds(2)
        request.needsFreshConnection = true
        _ = await loader.load(request)
        let clock = ContinuousClock()
        let start = clock.now
        // Where the connect limit itself ended the first attempt, its address is not avoided yet.
        await withKnownIssue { () async throws -> Void in
            #expect(try await loader.response(for: request).status == 200)
            #expect(start.duration(to: clock.now) < .seconds(1))
        }
        withExtendedLifetime(hole) {}
    }

    @Test("R33: an attempt that runs out of time at an address leaves the next one to the others")
    func tooSlowAddress() async throws {
        let server = try FaultServer()
        let hole = try #require(BlackHole(port: server.port))
        let loader = try loader(["two.test:\(server.port):127.0.0.2,127.0.0.1"])
        var request = try HTTPRequest("http://two.test:\(server.port)/ok")
        request.attemptTimeout = .milliseconds(400)
        request.timeouts.connect = .seconds(10)
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 2))
        let response = try await (Retry(policy, budgets: nil) --> loader).response(for: request)
        #expect(response.attempts.map(\.error) == [.timedOut, nil])
        withExtendedLifetime(hole) {}
    }

    @Test("R33: where all addresses failed before, they are tried all the same")
    func allFailed() async throws {
        let port = try FaultServer(mode: .refuse).port
        let loader = try loader(["two.test:\(port):127.0.0.2,127.0.0.1"])
        let request = try HTTPRequest("http://two.test:\(port)/ok")
        for _ in 1...2 { #expect(try failure(of: await loader.load(request)).code == .cannotConnectToHost) }
        let server: FaultServer
        do { server = try FaultServer(port: port) } catch { return }
        #expect(try await loader.response(for: request).status == 200)
        #expect(server.connectionCount == 1)
    }
}
