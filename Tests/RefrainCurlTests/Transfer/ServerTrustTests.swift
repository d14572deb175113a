// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

@Suite("CurlLoader: trust, host by host", .timeLimit(.minutes(10)))
struct ServerTrustTests {
    typealias Evaluator = ServerTrust.Evaluator

    static let wrongPin = "sha256//47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="

    let server: FaultServer

    init() throws { server = try FaultServer() }

    private func loader(_ evaluators: [String: Evaluator], all: Bool = true) throws -> CurlLoader {
        var configuration = CurlLoader.Configuration()
        configuration.serverTrust = try ServerTrust(allHostsMustBeEvaluated: all, evaluators: evaluators)
        return try CurlLoader(configuration: configuration)
    }

    @Test("A: serverTrust: the wrong key is refused with an error that names the right one, and nothing is sent")
    func pins() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let authorities = Evaluator.Authorities.certificateFile(fixture.caPath)
        let request = try HTTPRequest(fixture.baseURL + "/ok")
        let wrong = try loader(["127.0.0.1": .publicKeys([Self.wrongPin], authorities: authorities)])
        let chain = Retry(RetryPolicy(exponentialBackoffScale: 0), budgets: nil) --> wrong
        let error = try failure(of: await chain.load(request))
        #expect(error.code == .serverCertificateUntrusted, "\(error)")
        #expect(error.bytesSent == 0)
        // A key that does not match is final: it would not match the next time either (R8).
        #expect(error.attempts.count == 1)
        #expect(server.log.isEmpty)
        let message = try #require(error.message)
        #expect(message.contains("pinned"))
        let start = try #require(message.firstRange(of: "sha256//")).lowerBound
        let shown = String(message[start...].prefix { $0 != "," })
        #expect(shown != Self.wrongPin)

        // One of several keys is enough.
        let right = try loader(["127.0.0.1": .publicKeys([Self.wrongPin, shown], authorities: authorities)])
        #expect(try await right.response(for: request).status == 200)

        // The right key does not compensate for an unknown authority.
        let unknown = try loader(["127.0.0.1": .publicKeys([shown])])
        #expect(try failure(of: await unknown.load(request)).code == .serverCertificateHasUnknownRoot)
    }

    @Test("A: serverTrust: one loader judges each host by its own evaluator, in any order")
    func eachHost() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let address = try HTTPRequest(fixture.baseURL + "/ok")
        let name = try HTTPRequest("https://localhost:\(fixture.port)/ok")
        let evaluators: [String: Evaluator] = [
            "127.0.0.1": .certificateFile(fixture.caPath),
            "localhost": .system,
        ]
        let loader = try loader(evaluators)
        for _ in 0..<3 {
            #expect(try await loader.response(for: address).status == 200)
            #expect(try failure(of: await loader.load(name)).code == .serverCertificateHasUnknownRoot)
        }
        let trusting = try self.loader(["127.0.0.1": .system, "localhost": .disabledAndInsecure])
        for _ in 0..<3 {
            #expect(try await trusting.response(for: name).status == 200)
            #expect(try failure(of: await trusting.load(address)).code == .serverCertificateHasUnknownRoot)
        }
    }

    @Test("A: serverTrust: a host without an evaluator is refused, unless the transport's own rule is to hold")
    func others() async throws {
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { fixture.stop() }
        let request = try HTTPRequest(fixture.baseURL + "/ok")
        let error = try failure(of: await loader(["api.example.com": .system]).load(request))
        #expect(error.code == .serverCertificateUntrusted)
        #expect(error.bytesSent == 0)
        #expect(error.message?.contains("127.0.0.1") == true)
        #expect(error.message?.contains("allHostsMustBeEvaluated") == true)
        #expect(fixture.handshakeCount == 0)

        var configuration = CurlLoader.Configuration()
        configuration.serverTrust = try ServerTrust(allHostsMustBeEvaluated: false, evaluators: ["a.test": .system])
        configuration.trust = .certificateFile(fixture.caPath)
        #expect(try await CurlLoader(configuration: configuration).response(for: request).status == 200)
    }

    @Test("requests without TLS are not concerned")
    func plain() async throws {
        let loader = try loader(["api.example.com": .system])
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/ok")).status == 200)
    }

    @Test("a file of authorities that cannot be read is refused where the loader is made")
    func missingFile() {
        #expect(throws: InvalidArgument.self) { try loader(["a.test": .certificateFile("/nonexistent")]) }
    }
}
