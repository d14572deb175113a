// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@testable import RefrainCurl

@Suite("CurlLoader: connections that the server is about to close", .timeLimit(.minutes(10)))
struct KeepAliveTests {
    @Test("R2: a POST goes over a new connection where the server says that it closes the old one by then")
    func expired() async throws {
        let server = try FaultServer()
        // As a server whose close has not arrived yet: the second request on a connection is lost.
        server.on("/orders") { request in
            request.numberOnConnection > 1
                ? [.reset] : [.respond(.init(201, headers: [("Keep-Alive", "timeout=1, max=100")]))]
        }
        let loader = CurlLoader()
        for idle in [0, 600, 950, 1050] {
            try await Task.sleep(for: .milliseconds(idle))
            let request = try HTTPRequest(server.baseURL + "/orders", method: .post, body: .text("one tea"))
            #expect(try await loader.response(for: request).status == 201)
        }
        #expect(server.connectionCount == 4)
        #expect(server.count(path: "/orders") == 4)
    }

    @Test("a connection that the server keeps for long is used again")
    func kept() async throws {
        let server = try FaultServer()
        server.on("/") { _ in [.respond(.init(200, headers: [("Keep-Alive", "timeout=60, max=100")]))] }
        let loader = CurlLoader()
        for _ in 1...3 { _ = try await loader.response(for: HTTPRequest(server.baseURL + "/")) }
        #expect(server.connectionCount == 1)
    }

    @Test("a connection for no further request is not used again")
    func last() async throws {
        let server = try FaultServer()
        server.on("/") { _ in [.respond(.init(200, headers: [("Keep-Alive", "timeout=60, max=0")]))] }
        let loader = CurlLoader()
        for _ in 1...3 { _ = try await loader.response(for: HTTPRequest(server.baseURL + "/")) }
        #expect(server.connectionCount == 3)
    }

    @Test(
        "Keep-Alive is read in all its forms, and ignored if it is malformed",
        arguments: [
            ("timeout=5", 5), ("timeout=5, max=100", 5), ("max=7,Timeout=3", 3), ("timeout = \"4\"", 4),
            ("timeout=0", 0),
            ("max=0, timeout=9", 0), ("max=9", nil), ("", nil), ("timeout", nil), ("timeout=", nil),
            ("timeout=-3", nil),
            ("timeout=soon", nil), ("timeout=9, timeout=2", 2), ("timeout=99999999999999999999", 1_000_000_000),
        ] as [(String, Int64?)]
    )
    func parsed(value: String, seconds: Int64?) {
        #expect(HeadReader.keepAlive(value) == seconds.map { $0 * 1_000_000_000 })
    }

    @Test("the margin is 2 s, or half of a shorter time")
    func margin() {
        let connection = OpenConnection(socket: -1)
        let second: Int64 = 1_000_000_000
        #expect(!connection.isExpiring(now: 100 * second))
        connection.idleSince = 100 * second
        #expect(!connection.isExpiring(now: 900 * second))
        for (timeout, usable) in [(1, 0.5), (2, 1), (5, 3), (60, 58)] as [(Int64, Double)] {
            connection.keepAlive = timeout * second
            let end = 100 * second + Int64(usable * 1e9)
            #expect(!connection.isExpiring(now: end - 1))
            #expect(connection.isExpiring(now: end))
        }
        connection.keepAlive = 0
        #expect(connection.isExpiring(now: 100 * second))
    }
}
