// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCurl

@Suite("CurlLoader: refused destinations", .timeLimit(.minutes(10)))
struct DestinationTests {
    let server: FaultServer

    init() throws { server = try FaultServer() }

    private func loader(_ policy: CurlLoader.DestinationPolicy, _ entries: [String] = []) throws
        -> CurlLoader
    {
        var configuration = CurlLoader.Configuration()
        configuration.destinations = policy
        configuration.overrides.resolve = entries
        return try CurlLoader(configuration: configuration)
    }

    @Test(
        "no spelling of an address on this machine is connected to, and it is tried once",
        arguments: [
            "127.0.0.1", "127.1", "0x7f000001", "2130706433", "0177.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]",
            "0.0.0.0", "127.0.0.1.", "inner.test",
        ]
    )
    func spellings(host: String) async throws {
        let loader = try loader(.publicOnly, ["inner.test:\(server.port):127.0.0.1"])
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        let request = try HTTPRequest("http://\(host):\(server.port)/ok")
        let error = try failure(of: await (Retry(policy, budgets: nil) --> loader).load(request))
        // What is no address is asked of the machine's name server, which may not answer.
        #expect([.destinationRefused, .cannotFindHost, .badURL, .timedOut].contains(error.code), "\(error)")
        if error.code == .destinationRefused { #expect(error.attempts.count == 1 && error.bytesSent == 0) }
        #expect(server.connectionCount == 0)
    }

    @Test("a redirect to a refused address is not followed")
    func redirect() async throws {
        let loader = try loader(
            try .publicOnly(and: ["127.0.0.1"]),
            ["outer.test:\(server.port):127.0.0.1", "inner.test:\(server.port):127.0.0.2"]
        )
        let url = "http://outer.test:\(server.port)/redirect-to?url=http://inner.test:\(server.port)/ok"
        let error = try failure(of: await (Redirect() --> loader).load(HTTPRequest(url)))
        #expect(error.code == .destinationRefused, "\(error)")
        #expect(server.log.count == 1)
    }

    @Test("the address that is connected to is judged: of several the allowed one is taken, also after a change")
    func changedAnswer() async throws {
        // The answer at the moment of the connection counts: no check comes before that a later answer could pass by.
        let policy = try CurlLoader.DestinationPolicy.publicOnly(and: ["127.0.0.1"])
        let mixed = try loader(policy, ["two.test:\(server.port):127.0.0.2,127.0.0.1"])
        var request = try HTTPRequest("http://two.test:\(server.port)/ok")
        request.needsFreshConnection = true
        #expect(try await mixed.response(for: request).status == 200)
        let changed = try loader(policy, ["two.test:\(server.port):127.0.0.2"])
        #expect(try failure(of: await changed.load(request)).code == .destinationRefused)
    }

    @Test("R31: a proxy beside a policy is refused, and that of the environment is not used")
    func proxy() throws {
        var configuration = CurlLoader.Configuration()
        configuration.destinations = .publicOnly
        configuration.proxy = "http://127.0.0.1:3128"
        let error = #expect(throws: InvalidArgument.self) { try CurlLoader(configuration: configuration) }
        #expect(error?.argument == "destinations")
        configuration.proxy = ""
        #expect(throws: Never.self) { try CurlLoader(configuration: configuration) }
    }
}
