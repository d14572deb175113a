// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("CurlLoader: faults of a server", .timeLimit(.minutes(10)))
struct FaultTests {
    /// What a path of the server's does to a request.
    struct Case: Sendable, CustomTestStringConvertible {
        var path: String
        var code: HTTPError.Code
        var testDescription: String { path }

        init(_ path: String, _ code: HTTPError.Code) {
            self.path = path
            self.code = code
        }
    }

    static let cases: [Case] = [
        Case("/reset-before", .networkConnectionLost),
        Case("/reset-headers", .networkConnectionLost),
        Case("/reset-body", .networkConnectionLost),
        Case("/close-before", .networkConnectionLost),
        Case("/close-headers", .networkConnectionLost),
        Case("/close-body", .networkConnectionLost),
        Case("/close-body?bytes=100000&after=99999", .networkConnectionLost),
        Case("/close-body?bytes=100000&after=0", .networkConnectionLost),
        Case("/close-chunked", .networkConnectionLost),
        Case("/close-chunked?mid=1", .networkConnectionLost),
        Case("/close-chunked?reset=1", .networkConnectionLost),
        Case("/garbage", .badServerResponse),
        Case("/bad-length?kind=conflict", .badServerResponse),
        Case("/bad-length?kind=negative", .badServerResponse),
        Case("/bad-length?kind=text", .badServerResponse),
        Case("/bad-length?kind=overflow", .badServerResponse),
        Case("/bad-length?kind=both", .badServerResponse),
        Case("/bad-chunk", .badServerResponse),
        Case("/endless-headers", .badServerResponse),
        Case("/huge-header?bytes=1000000", .badServerResponse),
        Case("/gzip-bomb?bytes=100000000", .dataLengthExceedsMaximum),
        Case("/huge", .dataLengthExceedsMaximum),
        Case("/huge?bytes=2000000&length=1", .dataLengthExceedsMaximum),
        Case("/bad-gzip?kind=deflate", .cannotDecodeContentData),
        Case("/bad-gzip?kind=crc", .cannotDecodeContentData),
        Case("/bad-gzip?kind=magic", .cannotDecodeContentData),
        Case("/bad-gzip?kind=cut", .cannotDecodeContentData),
    ]

    let server: FaultServer
    let loader = CurlLoader()

    init() throws { server = try FaultServer() }

    @Test("a head with a line that is too long is called that, and not a lack of memory")
    func longLine() async throws {
        let result = await loader.load(try HTTPRequest(server.baseURL + "/huge-header?bytes=1000000"))
        guard case .failure(let error) = result else {
            Issue.record("\(result)")
            return
        }
        #expect("\(error)".contains("longer than 100 KB"), "\(error)")
    }

    @Test("R10: a fault is a failure with its code, whether the body is collected or streamed", arguments: cases)
    func faults(fault: Case) async throws {
        for (method, streams): (HTTPMethod, Bool) in [(.get, false), (.get, true), (.post, false)] {
            var request = try HTTPRequest(server.baseURL + fault.path, method: method)
            if method == .post { request.body = .text("abc") }
            request.streamsResponse = streams
            request.maximumBodySize = 1_000_000
            server.clearLog()
            let error: HTTPError
            switch await loader.load(request) {
            case .failure(let failure): error = failure
            case .success(let response):
                error = try await #require(throws: HTTPError.self) { try await response.body.collect() }
            }
            #expect(error.code == fault.code, "\(method) \(streams): \(error)")
            #expect(try #require(error.bytesSent) > 30)
            #expect(server.log.count == 1)
        }
    }

    @Test(
        "guard 1: a close in the head's middle is a failure also where a body was sent before",
        arguments: [
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK",
            "HTTP/1.1 200 OK\r\nContent-Length: 0\r\nX-A", "HTTP/1.1 204 No Content\r\nX: y\r\n",
        ]
    )
    func cutHeads(head: String) async throws {
        server.on("/cut") { _ in [.text(head), .close] }
        for method: HTTPMethod in [.get, .head, .post] {
            let error = try failure(of: await loader.load(HTTPRequest(server.baseURL + "/cut", method: method)))
            #expect([.networkConnectionLost, .badServerResponse].contains(error.code), "\(error)")
        }
        #expect(server.count(path: "/cut") == 3)
    }

    @Test("R10: HEAD, 204 and 304 have no body to miss")
    func noBody() async throws {
        server.on("/length") { _ in [.text("HTTP/1.1 200 OK\r\nContent-Length: 50\r\n\r\n"), .close] }
        server.on("/204") { _ in [.text("HTTP/1.1 204 No Content\r\nContent-Length: 50\r\n\r\n"), .close] }
        server.on("/304") { _ in [.text("HTTP/1.1 304 Not Modified\r\nContent-Length: 50\r\n\r\n"), .close] }
        for streams in [false, true] {
            for (method, path): (HTTPMethod, String) in [(.head, "/length"), (.get, "/204"), (.get, "/304")] {
                var request = try HTTPRequest(server.baseURL + path, method: method)
                request.streamsResponse = streams
                request.needsFreshConnection = true
                let response = try await loader.response(for: request)
                #expect(try await response.body.collect().isEmpty)
            }
        }
    }

    @Test("what had arrived of a body that was cut is on the error")
    func partialResponse() async throws {
        let request = try HTTPRequest(server.baseURL + "/close-body?bytes=5000&after=3000")
        let response = try #require(try failure(of: await loader.load(request)).response)
        #expect(response.status == 200)
        #expect(response.body.length == 3000)
    }

    @Test("guard 2, R3: a request that dies on a reused connection is not sent again", arguments: [false, true])
    func staleConnection(closes: Bool) async throws {
        let path = "/drop-reused" + (closes ? "?close=1" : "")
        for (method, body): (HTTPMethod, HTTPBody) in [
            (.get, .empty), (.post, .text("abc")), (.head, .empty),
            (.put, .bytes([UInt8](repeating: 1, count: 300_000))),
            (
                .put,
                .stream {
                    AsyncStream {
                        $0.yield([1, 2, 3]); $0.finish()
                    }
                }
            ),
        ] {
            let loader = CurlLoader()
            _ = try await loader.response(for: HTTPRequest(server.baseURL + path, method: method))
            server.clearLog()
            let connections = server.connectionCount
            let request = try HTTPRequest(server.baseURL + path, method: method, body: body)
            let error = try failure(of: await loader.load(request))
            #expect(error.code == .networkConnectionLost, "\(method) \(error)")
            #expect(try #require(error.bytesSent) > 30)
            #expect(server.log.count == 1)
            #expect(server.connectionCount == connections)
        }
    }

    @Test("a connection that the server closed while it was idle costs nothing")
    func idleClose() async throws {
        for number in 1...20 {
            _ = try await loader.response(
                for: HTTPRequest(server.baseURL + "/drop-idle", method: .post, body: .text("x"))
            )
            let closed = await eventually { server.openConnectionCount == 0 }
            #expect(closed)
            #expect(server.log.count == number)
        }
    }

    @Test("heads of 1xx responses are skipped, trailers are left out, folded lines are joined")
    func interimResponses() async throws {
        server.on("/early") { _ in
            [
                .text("HTTP/1.1 103 Early Hints\r\nLink: </a>\r\n\r\nHTTP/1.1 102 Processing\r\n\r\n"),
                .text("HTTP/1.1 200 OK\r\nX-Folded: a\r\n  b\r\nTransfer-Encoding: chunked\r\nTrailer: X-T\r\n\r\n"),
                .text("3\r\nabc\r\n0\r\nX-T: late\r\n\r\n"),
            ]
        }
        let response = try await loader.response(for: HTTPRequest(server.baseURL + "/early"))
        #expect(try await response.body.collect() == Array("abc".utf8))
        #expect(response.headers["Link"] == nil)
        #expect(response.headers["X-T"] == nil)
        #expect(response.headers["X-Folded"] == "a b")
        let again = try await loader.response(for: HTTPRequest(server.baseURL + "/early"))
        #expect(again.exchange.reusedConnection)
    }

    @Test("R8: a trailer that is no field is garbage, as in the head", arguments: ["no field", "a\u{0}b: c"])
    func badTrailer(line: String) async throws {
        server.on("/trailer") { _ in
            [.text("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\(line)\r\n\r\n")]
        }
        let error = try failure(of: await loader.load(HTTPRequest(server.baseURL + "/trailer")))
        #expect(error.code == .badServerResponse, "\(error)")
    }

    @Test(
        "R3: what may come behind a 204 is no answer to the next request",
        arguments: ["Content-Length: 43", "Transfer-Encoding: chunked"]
    )
    func contentOf204(field: String) async throws {
        server.on("/204") { _ in
            let surplus = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nwrong"
            return [.text("HTTP/1.1 204 No Content\r\n\(field)\r\n\r\n"), .sleep(.milliseconds(20)), .text(surplus)]
        }
        server.on("/next") { _ in [.respond(.init(200, body: "right"))] }
        for _ in 0..<3 {
            #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/204")).status == 204)
            let next = try await loader.response(for: HTTPRequest(server.baseURL + "/next"))
            #expect(next.text == "right")
        }
        // One without content leaves its connection to the next request.
        server.on("/none") { _ in [.text("HTTP/1.1 204 No Content\r\nContent-Length: 0\r\n\r\n")] }
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/none")).status == 204)
        #expect(try await loader.response(for: HTTPRequest(server.baseURL + "/next")).exchange.reusedConnection)
    }

    @Test("a server that answers before the upload has ended is heard")
    func earlyResponse() async throws {
        server.on("/early", readsBody: false) { _ in
            [.respond(.init(413, headers: [("Connection", "close")], body: "no")), .close]
        }
        let body = HTTPBody.bytes([UInt8](repeating: 7, count: 200_000))
        let response = try await loader.response(
            for: HTTPRequest(server.baseURL + "/early", method: .post, body: body)
        )
        #expect(response.status == 413)
    }
}
