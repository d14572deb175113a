// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import TLSFixture
import Testing

@Suite("On the wire: redirects", .timeLimit(.minutes(10)))
struct RedirectTests {
    let first: FaultServer
    let second: FaultServer

    init() throws {
        first = try FaultServer()
        second = try FaultServer()
    }

    private static let secrets = ["Authorization", "Cookie", "Proxy-Authorization", "Idempotency-Key", "X-Api-Key"]

    private func request(_ url: String) throws -> HTTPRequest {
        var request = try HTTPRequest(url, method: .put, body: .text("a"))
        for name in Self.secrets { request.headers[name] = "secret" }
        request.headers["X-Plain"] = "plain"
        request.secretHeaders = ["x-api-key"]
        return request
    }

    @Test("R26: another origin gets no credentials, on no attempt, and they do not come back")
    func credentials() async throws {
        let home = first.baseURL + "/ok"
        second.on("/away") { request in
            request.occurrence < 3 ? [.respond(.init(503))] : [.respond(.init(307, headers: [("Location", home)]))]
        }
        let chain = try Redirect() --> Retry(quick(), budgets: nil) --> transport()
        let url = first.baseURL + "/redirect-to?status=307&url=\(second.baseURL)/away"
        let response = try await chain.response(for: request(url))
        #expect(response.status == 200)
        #expect(response.attempts.count == 5)
        #expect(second.log.count == 3)
        let there = first.log[0]
        #expect(Self.secrets.allSatisfy { there.values($0) == ["secret"] })
        for entry in second.log + [first.log[1]] {
            #expect(Self.secrets.allSatisfy { entry.values($0).isEmpty })
            #expect(entry.values("X-Plain") == ["plain"])
            #expect(entry.bodyLength == 1)
        }
        #expect(second.log.allSatisfy { $0.values("Host") == ["127.0.0.1:\(second.port)"] })
    }

    @Test("R26: within an origin credentials stay")
    func sameOrigin() async throws {
        let chain = try Redirect() --> Retry(quick(), budgets: nil) --> transport()
        _ = try await chain.response(for: request(first.baseURL + "/redirect/2?status=307"))
        #expect(first.log.count == 3)
        for entry in first.log { #expect(Self.secrets.allSatisfy { entry.values($0) == ["secret"] }) }
    }

    @Test("R26: https never falls to http")
    func insecure() async throws {
        let fixture = try TLSFixture(upstreamPort: first.port)
        defer { fixture.stop() }
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        let chain = Redirect() --> Retry(try quick(), budgets: nil) --> (try CurlLoader(configuration: configuration))
        let url = fixture.baseURL + "/redirect-to?url=\(second.baseURL)/ok"
        let error = try failure(of: await chain.load(HTTPRequest(url)))
        #expect(error.code == .insecureRedirect)
        #expect(first.log.count == 1)
        #expect(second.log.isEmpty)
    }
}
