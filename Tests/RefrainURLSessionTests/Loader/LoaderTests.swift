// SPDX-License-Identifier: Apache-2.0
import Foundation
import RefrainHTTP
import RefrainTesting
import RefrainURLSession
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Nothing here hangs up in the middle of a head, or sends what is not HTTP: FoundationNetworking ends the process
// there.
@Suite("URLSessionLoader", .serialized, .timeLimit(.minutes(10)))
struct LoaderTests {
    let server: FaultServer
    let loader = URLSessionLoader()

    init() throws { server = try FaultServer() }

    private func request(_ path: String, _ method: HTTPMethod = .get) throws -> HTTPRequest {
        try HTTPRequest(server.baseURL + path, method: method)
    }

    @Test("a response has its status, fields and body, whatever the status", arguments: [200, 204, 404, 503])
    func statuses(status: Int) async throws {
        let response = try await loader.response(for: request("/status/\(status)"))
        #expect(response.status.rawValue == status)
        #expect(response.headers.contains("Date"))
        #expect(server.log.count == 1)
    }

    @Test("method, fields and body arrive as they were given")
    func sent() async throws {
        var request = try request("/echo", .put)
        request.headers["X-One"] = "1"
        request.body = .text("hello")
        let response = try await loader.response(for: request)
        #expect(response.text?.contains("hello") == true)
        let entry = try #require(server.log.first)
        #expect(entry.method == "PUT")
        #expect(entry.header("X-One") == "1")
        #expect(entry.header("Content-Type") == "text/plain; charset=utf-8")
        #expect(entry.header("Content-Length") == "5")
        #expect(entry.header("Cookie") == nil)
    }

    @Test("several cookie fields arrive as one list of cookies (RFC 6265 §5.4)")
    func cookieFields() async throws {
        var request = try request("/ok")
        request.headers = ["Cookie": "a=1", "X-A": "1", "cookie": "b=2; c=3", "X-A": "2"]
        _ = try await loader.response(for: request)
        let entry = try #require(server.log.first)
        #expect(entry.header("Cookie") == "a=1; b=2; c=3")
        #expect(URLRequest(request)?.value(forHTTPHeaderField: "Cookie") == "a=1; b=2; c=3")
    }

    @Test("R26: redirects are responses, which the chain follows", arguments: [301, 302, 303, 307, 308])
    func redirects(status: Int) async throws {
        let response = try await loader.response(for: request("/redirect/1?status=\(status)"))
        #expect(response.status.rawValue == status)
        #expect(response.headers["Location"] != nil)
        #expect(server.log.count == 1)
        let followed = try await (Redirect() --> loader).response(for: request("/redirect/2?status=\(status)"))
        #expect(followed.status == 200)
        #expect(server.log.count == 4)
    }

    @Test(
        "R30: a 401 is a response, whatever scheme of authentication it names",
        arguments: [
            "Basic realm=\"x\"", "Digest realm=\"x\", nonce=\"n\", qop=\"auth\"", "NTLM", "Negotiate", "Bearer", "odd",
        ]
    )
    func unauthorized(challenge: String) async throws {
        let body = [UInt8](repeating: 120, count: 100_000)
        server.on("/401") { _ in [.respond(.init(401, headers: [("WWW-Authenticate", challenge)], bytes: body))] }
        for streams in [false, true] {
            for upload in [HTTPBody.empty, .text("body"), .stream { Chunks(count: 3, size: 1000) }] {
                var request = try request("/401", upload.isEmpty ? .get : .post)
                request.body = upload
                request.streamsResponse = streams
                request.timeouts.total = .seconds(20)
                let response = try await loader.response(for: request)
                #expect(response.status == 401 && response.headers["WWW-Authenticate"] == challenge)
                #expect(try await response.body.collect() == body)
            }
        }
        var head = try request("/401", .head)
        head.timeouts.total = .seconds(20)
        #expect(try await loader.response(for: head).status == 401)
        #expect(server.log.count == 7)
    }

    @Test("R10: a 401 that is cut short is no response")
    func unauthorizedCut() async throws {
        let head = "HTTP/1.1 401 Unauthorized\r\nWWW-Authenticate: Basic realm=\"x\"\r\nContent-Length: 10\r\n\r\n"
        server.on("/cut") { _ in [.text(head + "12345"), .close] }
        #expect(try failure(of: await loader.load(request("/cut"))).code.retryability != .final)
    }

    @Test("R27: credentials that were refused are answered to the caller")
    func refusedCredentials() async throws {
        server.on("/401") { _ in
            [.respond(.init(401, headers: [("WWW-Authenticate", "Basic realm=\"x\"")], body: "no"))]
        }
        var request = try request("/401")
        request.timeouts.total = .seconds(20)
        request.headers["Authorization"] = "Basic dTpw"
        let response = try await loader.response(for: request)
        #expect(response.status == 401 && response.text == "no")
        #expect(server.log.map { $0.header("Authorization") } == ["Basic dTpw"])
    }

    @Test("a redirect without a target is a response too")
    func redirectToNowhere() async throws {
        #expect(try await loader.response(for: request("/redirect-no-location")).status == 302)
    }

    @Test("cookies are neither kept nor sent")
    func cookies() async throws {
        server.on("/cookie") { _ in
            [.text("HTTP/1.1 200 OK\r\nSet-Cookie: a=b; Path=/\r\nContent-Length: 0\r\n\r\n")]
        }
        for _ in 0..<2 { _ = try await loader.response(for: request("/cookie")) }
        #expect(server.log.map { $0.header("Cookie") } == [nil, nil])
    }

    @Test("R10: a body that is cut short is a failure", arguments: ["/close-body", "/reset-body", "/close-chunked"])
    func cutShort(path: String) async throws {
        for streams in [false, true] {
            var request = try request(path)
            request.streamsResponse = streams
            let error: HTTPError
            switch await loader.load(request) {
            case .failure(let failure): error = failure
            case .success(let response):
                error = try await #require(throws: HTTPError.self) { try await response.body.collect() }
            }
            #expect(error.code.retryability != .final, "\(error)")
        }
        #expect(server.log.count == 2)
    }

    @Test("R2: a refused connection is reported as no byte sent")
    func refused() async throws {
        let refusing = try FaultServer(mode: .refuse)
        let request = try HTTPRequest(refusing.baseURL + "/", method: .post, body: .text("once"))
        let error = try failure(of: await loader.load(request))
        #expect(error.code == .cannotConnectToHost)
        #expect(error.bytesSent ?? 0 == 0)
        #expect(error.underlyingError is URLError)
    }

    @Test("R3: one call is one send, and the chain's attempts are counted as they are")
    func attempts() async throws {
        let chain = Retry(RetryPolicy(exponentialBackoffScale: 0), budgets: nil) --> loader
        let response = try await chain.response(for: request("/status/503?times=2"))
        #expect(response.status == 200)
        #expect(response.attempts.count == 3)
        #expect(server.log.count == 3)
        #expect(await (try? chain.response(for: request("/status/503?key=post", .post)).attempts.count) == 1)
        #expect(server.log.count == 4)
    }

    @Test("what URLSession cannot send is refused before it is sent")
    func refusals() async throws {
        var get = try request("/ok")
        get.body = .text("no")
        let refused = try failure(of: await loader.load(get))
        #expect(refused.code == .invalidRequest)
        #expect(refused.bytesSent == 0)
        var framed = try request("/ok", .post)
        framed.headers["Content-Length"] = "9"
        #expect(try failure(of: await loader.load(framed)).code == .invalidRequest)
        let file = try HTTPRequest(server.baseURL + "/ok", method: .post, body: .file("/nonexistent"))
        #expect(try failure(of: await loader.load(file)).code == .fileDoesNotExist)
        #expect(server.log.isEmpty)
    }

    @Test("a body that is larger than allowed is refused, announced or not")
    func tooLarge() async throws {
        for path in ["/bytes/100000", "/stream?chunks=50&interval=0"] {
            var request = try request(path)
            request.maximumBodySize = 50
            #expect(try failure(of: await loader.load(request)).code == .dataLengthExceedsMaximum, "\(path)")
        }
    }

    @Test("R7: a request that needs a fresh connection gets one")
    func freshConnection() async throws {
        for _ in 0..<2 { _ = try await loader.response(for: request("/ok")) }
        #expect(server.log.map(\.connection) == [1, 1])
        var fresh = try request("/ok")
        fresh.needsFreshConnection = true
        #expect(try await loader.response(for: fresh).status == 200)
        #expect(try #require(server.log.last).connection == 2)
    }

    @Test("many requests at a time are answered, each with its own body")
    func many() async throws {
        let base = server.baseURL
        let bodies = try await withThrowingTaskGroup(of: Bool.self) { group in
            for number in 0..<100 {
                group.addTask {
                    let request = try HTTPRequest(base + "/echo", method: .post, body: .text("number \(number)."))
                    return try await loader.response(for: request).text?.contains("number \(number).") == true
                }
            }
            return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
        }
        #expect(bodies == 100)
        #expect(server.log.count == 100)
    }

    @Test("a background configuration is refused with the reason")
    func background() {
        #if canImport(Darwin)
        #expect(throws: InvalidArgument.self) {
            try URLSessionLoader(configuration: .background(withIdentifier: "refrain"))
        }
        #endif
        #expect(throws: Never.self) { try URLSessionLoader(configuration: .default) }
    }
}
