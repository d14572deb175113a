// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@Suite("The path that behaves like a model API", .offPool)
struct ModelAPIRouteTests {
    @Test("requests beyond the limit are refused with the time, and what is out of credit or overloaded says so")
    func limits() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let path = "/v1/chat/completions"
        let first = try #require(try RawClient.fetch(server.port, "\(path)?requests=20&window=60"))
        #expect(first.status == 200 && first.text.contains("\"total_tokens\":"))
        let second = try #require(try RawClient.fetch(server.port, "\(path)?requests=20&window=60"))
        #expect(second.status == 429 && second.text.contains("rate_limit_exceeded"))
        #expect(second["Retry-After"] == "3" && second["x-ratelimit-remaining-requests"] == "0")
        let spent = try #require(try RawClient.fetch(server.port, "\(path)?spent=1"))
        #expect(spent.status == 429 && spent.text.contains("insufficient_quota"))
        #expect(try RawClient.fetch(server.port, "\(path)?overloaded=1&requests=100000")?.status == 529)
        #expect(try RawClient.fetch(server.port, "\(path)?overloaded=1&requests=100000")?.status == 200)
    }
}
