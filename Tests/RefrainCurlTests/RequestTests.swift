// SPDX-License-Identifier: Apache-2.0
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import ScriptedResolver
import Testing

@Suite("CurlLoader: requests and responses", .timeLimit(.minutes(10)))
struct RequestTests {
    let server: FaultServer
    let loader = CurlLoader()

    init() throws { server = try FaultServer() }

    @Test("a GET brings status, headers and body")
    func get() async throws {
        let request = try HTTPRequest(server.baseURL + "/bytes/1000")
        let response = try await loader.response(for: request)
        #expect(response.status == 200)
        #expect(response.headers["Content-Length"] == "1000")
        #expect(try await response.body.collect().count == 1000)
        let entry = try #require(server.requests(toPath: "/bytes/1000").first)
        #expect(entry.method == "GET")
        #expect(response.exchange.version == "1.1")
        #expect(!response.exchange.reusedConnection)
        #expect(try #require(response.exchange.bytesSent) > 30)
    }

    @Test("the addresses and times of an exchange are reported to a request that asks for them, and to no other one")
    func connection() async throws {
        var request = try HTTPRequest(server.baseURL + "/bytes/10", method: .post, body: .bytes(Array("four".utf8)))
        #expect(try await loader.response(for: request).exchange.connection == nil)
        request.recordsConnection = true
        let connection = try #require(try await loader.response(for: request).exchange.connection)
        #expect(connection.remoteAddress == "127.0.0.1" && connection.localAddress == "127.0.0.1")
        #expect(server.baseURL.hasSuffix(":\(connection.remotePort)") && connection.localPort > 0)
        #expect(connection.handshake == nil && connection.proxyStatus == 0)
        #expect(connection.connect <= connection.firstByte && connection.preTransfer <= connection.firstByte)
        #expect(connection.headSize > 17 && connection.uploadSize == 4)
    }

    @Test("2,000 requests at 64 in flight all succeed, over no more than 32 connections")
    func many() async throws {
        try await concurrently(2000, inFlight: 64) { [loader, server] number in
            let response = try await loader.response(for: HTTPRequest(server.baseURL + "/bytes/\(number % 100)"))
            #expect(response.status == 200)
            #expect(response.body.length == Int64(number % 100))
        }
        #expect(server.log.count == 2000)
        #expect(server.connectionCount <= 32)
    }

    @Test("methods and bodies arrive as they were given", arguments: [0, 1, 5000, 16_384, 16_385, 200_000, 3_000_000])
    func bodies(size: Int) async throws {
        server.on("/echo-size") { request in
            [.respond(.init(200, body: "\(request.method) \(request.body.count)"))]
        }
        let bytes = (0..<size).map { UInt8(truncatingIfNeeded: $0 &* 7) }
        for method: HTTPMethod in [.post, .put, .patch, .delete, .get, "PURGE"] {
            let request = try HTTPRequest(server.baseURL + "/echo-size", method: method, body: .bytes(bytes))
            let response = try await loader.response(for: request)
            #expect(try await response.body.collect() == Array("\(method) \(size)".utf8))
            let sent = try #require(response.exchange.bytesSent)
            #expect(sent > size + 30 && sent < size + 400)
        }
        for entry in server.log {
            #expect(entry.header("Content-Type") == nil)
            #expect(entry.header("Expect") == nil)
            let announces = size > 0 || ["POST", "PUT", "PATCH"].contains(entry.method)
            #expect(entry.header("Content-Length") == (announces ? "\(size)" : nil))
        }
    }

    @Test(
        "a host is asked for by the name that DNS knows, however it is spelled",
        arguments: ["bücher", "B%C3%BCcher", "xn--bcher-kva", "xn--bcher%2Dkva"]
    )
    func spellingsOfHosts(host: String) async throws {
        // libcurl before 7.85 asks the name server for it, which need not know it.
        let isSet = "127.0.0.1"
            .withCString { address in
                var addresses: [UnsafePointer<CChar>?] = [address]
                return scripted_resolver_set("xn--bcher-kva.localhost", &addresses, 1)
            }
        try #require(isSet == 1)
        let request = try HTTPRequest("http://\(host).localhost:\(server.port)/bytes/3")
        let response = try await loader.response(for: request)
        #expect(response.status == 200)
        #expect(server.log.map { $0.header("Host") } == ["xn--bcher-kva.localhost:\(server.port)"])
    }

    @Test("a request goes where its own URL says, whatever the URL of the one before it on the handle looked like")
    func otherURLs() async throws {
        let plain = server.baseURL
        let host = plain.dropFirst("http://".count)
        let urls = [
            (plain + "/ok?a", "/ok?a"), ("http://me:secret@\(host)/ok?b", "/ok?b"), (plain + "/ok?c#d", "/ok?c"),
            ("HTTP://\(host)/ok?e", "/ok?e"), (plain + "/ok?f", "/ok?f"), (plain + "/ok?f", "/ok?f"),
            (plain + "/./ok/../ok?g", "/./ok/../ok?g"), (plain + "?h", "/?h"), (plain + "/ok?i", "/ok?i"),
        ]
        for _ in 0..<2 {
            for (url, path) in urls {
                _ = try await loader.response(for: HTTPRequest(url))
                let entry = try #require(server.log.last)
                #expect(entry.path == path)
                #expect(entry.header("Host") == String(host))
                let names = url.contains("@")
                #expect((entry.header("Authorization") != nil) == names)
            }
        }
        #expect(server.log.count == 2 * urls.count)
        #expect(server.connectionCount == 1)
    }

    @Test("each request on a handle has its own fields, and those of the transport once")
    func otherFields() async throws {
        let requests: [(HTTPHeaders, HTTPMethod, HTTPBody)] = [
            ([:], .get, .empty), (["X-A": "1"], .get, .empty), ([:], .get, .empty),
            (["X-A": "2", "X-B": "ü", "X-C": ""], .post, .text("a")), (["User-Agent": "mine"], .get, .empty),
            (["X-B": "3"], .post, .bytes([1])), (["accept-encoding": "identity"], .get, .empty),
            (["content-type": "a/b", "X-A": "4"], .put, .text("b")), ([:], .post, .empty), (["X-A": "5"], .get, .empty),
        ]
        for (headers, method, body) in requests {
            let request = try HTTPRequest(server.baseURL + "/ok", method: method, headers: headers, body: body)
            _ = try await loader.response(for: request)
            let sent = try #require(server.log.last).headers.map { [$0[0].lowercased(), $0[1]] }
            var expected = headers.map { [$0.name.lowercased(), $0.value] }
            expected += [["host", String(server.baseURL.dropFirst("http://".count))], ["accept", "*/*"]]
            if !headers.contains("User-Agent") { expected += [["user-agent", CurlLoader.Configuration().userAgent]] }
            if !headers.contains("Accept-Encoding") { expected += [["accept-encoding", "gzip, deflate"]] }
            if method != .get { expected += [["content-length", "\(body.length ?? 0)"]] }
            if let type = body.contentType, !headers.contains("Content-Type") { expected += [["content-type", type]] }
            #expect(sent.sorted { $0[0] < $1[0] } == expected.sorted { $0[0] < $1[0] })
        }
        #expect(server.connectionCount == 1)
    }
}
