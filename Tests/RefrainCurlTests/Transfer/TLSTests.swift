// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: TLS", .timeLimit(.minutes(10)))
struct TLSTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    private func loader(trusting fixture: TLSFixture) throws -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        return try CurlLoader(configuration: configuration)
    }

    @Test(
        "R8: each fault of a certificate has its code, and nothing was sent",
        arguments: [
            (TLSFixture.Identity.expired, HTTPError.Code.serverCertificateHasBadDate),
            (.notYetValid, .serverCertificateNotYetValid),
            (.selfSigned, .serverCertificateHasUnknownRoot),
            (.wrongHost, .serverCertificateUntrusted),
            (.untrustedRoot, .serverCertificateHasUnknownRoot),
        ]
    )
    func certificates(identity: TLSFixture.Identity, code: HTTPError.Code) async throws {
        let fixture = try TLSFixture(upstreamPort: server.port, identity: identity)
        defer { fixture.stop() }
        let error = try failure(of: await loader(trusting: fixture).load(HTTPRequest(fixture.baseURL + "/ok")))
        #expect(error.code == code, "\(error)")
        #expect(error.bytesSent == 0)
        #expect(error.underlyingError is CurlLoader.Failure)
        #expect(server.log.isEmpty)

        var configuration = CurlLoader.Configuration()
        configuration.trust = .insecure
        let trusting = try CurlLoader(configuration: configuration)
        #expect(try await trusting.response(for: HTTPRequest(fixture.baseURL + "/ok")).status == 200)
    }

    @Test("a certificate from an authority in a file is trusted; the system does not know it")
    func customAuthority() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let loader = try loader(trusting: fixture)
        #expect(try await loader.response(for: HTTPRequest(fixture.baseURL + "/ok")).status == 200)
        #expect(try await loader.response(for: HTTPRequest(fixture.baseURL + "/ok")).exchange.reusedConnection)
        let error = try failure(of: await CurlLoader().load(HTTPRequest(fixture.baseURL + "/ok")))
        #expect(error.code == .serverCertificateHasUnknownRoot)
    }

    @Test("R31: a pipe or a file without an end is no file of authorities, and refused at once")
    func endlessAuthorities() async throws {
        let path = "/tmp/refrain-\(getpid())-\(UInt32.random(in: .min ... .max)).fifo"
        try #require(mkfifo(path, 0o600) == 0)
        defer { unlink(path) }
        for file in [path, "/dev/zero", "/tmp"] {
            var configuration = CurlLoader.Configuration()
            configuration.trust = .certificateFile(file)
            #expect(throws: InvalidArgument.self) { try CurlLoader(configuration: configuration) }
            configuration = CurlLoader.Configuration()
            configuration.clientCertificate = .pem(file)
            #expect(throws: InvalidArgument.self) { try CurlLoader(configuration: configuration) }
        }
    }

    @Test("the agent is named over TLS too, once, and the caller's own instead of ours")
    func agent() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let loader = try loader(trusting: fixture)
        for agent in [nil, "mine", nil] {
            var request = try HTTPRequest(fixture.baseURL + "/ok")
            if let agent { request.headers["User-Agent"] = agent }
            _ = try await loader.response(for: request)
            let named = server.log.last?.headers.filter { $0.first == "User-Agent" }.map(\.last)
            #expect(named == [agent ?? CurlLoader.Configuration().userAgent])
        }
    }

    @Test("plain text on the TLS port, and TLS to a port that closes, fail the handshake")
    func plainText() async throws {
        let url = "https://127.0.0.1:\(server.port)/ok"
        let error = try failure(of: await CurlLoader().load(HTTPRequest(url)))
        #expect(error.code == .secureConnectionFailed, "\(error)")
        #expect(error.bytesSent == 0)
        for mode: FaultServer.Mode in [.closeOnAccept, .resetOnAccept, .garbageOnAccept] {
            let broken = try FaultServer(mode: mode)
            let error = try failure(of: await CurlLoader().load(HTTPRequest("https://127.0.0.1:\(broken.port)/")))
            // A reset can come before the handshake has begun.
            let isEarly = mode == .resetOnAccept && error.code == .cannotConnectToHost
            #expect(error.code == .secureConnectionFailed || isEarly, "\(mode) \(error)")
            #expect(error.bytesSent == 0)
        }
    }

    @Test(
        "R10: a body that ends with the connection needs a close_notify over TLS",
        arguments: [false, true],
        ["", "Transfer-Encoding: identity\r\n"]
    )
    func closeDelimited(streams: Bool, field: String) async throws {
        server.on("/open-ended") { _ in [.text("HTTP/1.1 200 OK\r\n\(field)\r\nhello"), .close] }
        for closeNotify in [true, false] {
            let fixture = try TLSFixture(upstreamPort: server.port, closeNotify: closeNotify)
            defer { fixture.stop() }
            let loader = try loader(trusting: fixture)
            var request = try HTTPRequest(fixture.baseURL + "/open-ended")
            request.streamsResponse = streams
            let result: Result<[UInt8], any Error>
            do {
                result = .success(try await loader.response(for: request).body.collect())
            } catch {
                result = .failure(error)
            }
            switch result {
            case .success(let bytes):
                #expect(closeNotify)
                #expect(bytes == Array("hello".utf8))
            case .failure(let error):
                #expect(!closeNotify)
                #expect((error as? HTTPError)?.code == .networkConnectionLost, "\(error)")
            }
        }
    }

    @Test("R10: bodies that are cut short over TLS are failures", arguments: [false, true])
    func cutBodies(closeNotify: Bool) async throws {
        let fixture = try TLSFixture(upstreamPort: server.port, closeNotify: closeNotify)
        defer { fixture.stop() }
        for path in ["/close-body", "/close-chunked", "/close-chunked?mid=1", "/close-headers", "/close-before"] {
            let loader = try loader(trusting: fixture)
            let error = try failure(of: await loader.load(HTTPRequest(fixture.baseURL + path)))
            #expect(error.code == .networkConnectionLost, "\(path) \(error)")
            #expect(try #require(error.bytesSent) > 30)
        }
    }

    @Test("guard 2: a request that dies on a reused TLS connection is not sent again")
    func staleConnection() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let loader = try loader(trusting: fixture)
        _ = try await loader.response(for: HTTPRequest(fixture.baseURL + "/drop-reused"))
        let error = try failure(of: await loader.load(HTTPRequest(fixture.baseURL + "/drop-reused")))
        #expect(error.code == .networkConnectionLost)
        #expect(try #require(error.bytesSent) > 30)
        #expect(server.log.count == 2)
    }
}
