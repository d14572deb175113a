// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainCurl
import RefrainHTTP
import TLSFixture
import Testing

#if canImport(Glibc)
import Glibc
#else
import Musl
#endif

@Suite("CurlLoader: connections that are used again", .timeLimit(.minutes(10)))
struct ReuseTests {
    /// What a server answers first, and what it sends when that has been received.
    struct Excess: Sendable, CustomTestStringConvertible {
        var method: HTTPMethod
        var answer: String
        var rest: String

        var testDescription: String { "\(method) \(answer.prefix { $0 != "\r" })" }

        static let evil = "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\nevil"
        static let all = [
            Excess(method: .get, answer: "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok", rest: evil),
            Excess(method: .get, answer: "HTTP/1.1 204 No Content\r\n\r\n", rest: evil),
            Excess(method: .get, answer: "HTTP/1.1 304 Not Modified\r\nContent-Length: 4\r\n\r\n", rest: "body"),
            Excess(method: .head, answer: "HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n", rest: "body"),
        ]
    }

    @Test(
        "R3: what a server sends unasked is no answer to the next request, which goes over another connection",
        arguments: Excess.all,
        [false, true]
    )
    func excess(_ excess: Excess, isTLS: Bool) async throws {
        let (excesses, heads) = (Counter(), Counter())
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            heads.add(1)
            connection.write(excess.answer)
            // Until the answer was read without it; else libcurl gives the connection up by itself.
            usleep(100_000)
            connection.write(excess.rest)
            excesses.add(1)
            while connection.readHead() != nil { heads.add(1) }
        }
        let fixture = isTLS ? try TLSFixture(upstreamPort: server.port) : nil
        defer { withExtendedLifetime(server) { fixture?.stop() } }
        var configuration = CurlLoader.Configuration()
        if let fixture { configuration.trust = .certificateFile(fixture.caPath) }
        let loader = try CurlLoader(configuration: configuration)
        let url = (fixture?.baseURL ?? "http://127.0.0.1:\(server.port)") + "/"
        for number in 1...3 {
            let body: HTTPBody = number == 2 && excess.method == .get ? .text("abc") : .empty
            let response = try await loader.response(for: HTTPRequest(url, method: excess.method, body: body))
            #expect("HTTP/1.1 \(response.status)".utf8.elementsEqual(excess.answer.utf8.prefix(12)))
            let content = try await response.body.collect()
            #expect(content.isEmpty || content == Array("ok".utf8))
            #expect(!response.exchange.reusedConnection)
            #expect(try #require(response.exchange.bytesSent) > 30)
            #expect(await eventually { excesses.value == number })
            // The relay carries it on.
            let passed = number * (excess.answer.utf8.count + excess.rest.utf8.count)
            if let fixture { #expect(await eventually { fixture.bytesPassedOn == passed }) }
        }
        #expect(heads.value == 3)
        #expect(server.connectionCount == 3)
    }

    @Test(
        "R4: an upload whose source can be read once goes over another connection too",
        arguments: [nil, 3] as [Int64?]
    )
    func upload(length: Int64?) async throws {
        let excesses = Counter()
        let server = RawServer { connection in
            guard connection.readHead() != nil, connection.read(length == nil ? 13 : 3) != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            usleep(100_000)
            connection.write(Excess.evil)
            excesses.add(1)
            _ = connection.readHead()
        }
        let loader = CurlLoader()
        for number in 1...2 {
            let body = HTTPBody.oneShot(Chunks(count: 1, size: 3), length: length)
            let request = try HTTPRequest("http://127.0.0.1:\(server.port)/", method: .put, body: body)
            let response = try await loader.response(for: request)
            #expect(try await response.body.collect() == Array("ok".utf8))
            #expect(await eventually { excesses.value == number })
        }
        #expect(server.connectionCount == 2)
    }

    @Test("an upload without a length goes over another connection where the server spoke HTTP/1.0 on the first one")
    func oldServer() async throws {
        let server = RawServer { connection in
            while let head = connection.readHead() {
                // "3", three bytes and "0", each with the ends of their lines, and the end of the body.
                if head.contains("chunked"), connection.read(13) == nil { return }
                connection.write("HTTP/1.0 200 OK\r\nConnection: keep-alive\r\nContent-Length: 2\r\n\r\nok")
            }
        }
        let loader = CurlLoader()
        let request = try HTTPRequest("http://127.0.0.1:\(server.port)/")
        _ = try await loader.response(for: request)
        #expect(try await loader.response(for: request).exchange.reusedConnection)
        for _ in 1...2 {
            let body = HTTPBody.oneShot(Chunks(count: 1, size: 3))
            let response = try await loader.response(for: HTTPRequest(request.url, method: .put, body: body))
            #expect(response.status == 200)
            #expect(!response.exchange.reusedConnection)
            #expect(try #require(response.exchange.bytesSent) > 30)
        }
    }
}
