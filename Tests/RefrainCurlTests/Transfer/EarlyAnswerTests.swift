// SPDX-License-Identifier: Apache-2.0
import CurlShim
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

@Suite("CurlLoader: servers that answer before they have read the request", .timeLimit(.minutes(10)))
struct EarlyAnswerTests {
    let loader = CurlLoader()

    private func request(
        to server: RawServer,
        _ body: HTTPBody = .empty,
        _ change: (inout HTTPRequest) -> Void = { _ in }
    ) throws -> HTTPRequest {
        var request = try HTTPRequest(
            "http://127.0.0.1:\(server.port)/",
            method: body.isEmpty ? .get : .put,
            body: body
        )
        request.timeouts.idle = .seconds(120)
        change(&request)
        return request
    }

    private static var large: HTTPBody { HTTPBody.bytes([UInt8](repeating: 1, count: 20_000_000)) }

    @Test(
        "a 200 counts although the server takes no more of the body and keeps the connection",
        arguments: ["Content-Length: 2\r\n\r\nok", "Content-Length: 0\r\n\r\n"],
        [false, true]
    )
    func unread(answer: String, streams: Bool) async throws {
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\n" + answer)
            connection.waitForEnd()
        }
        let clock = ContinuousClock()
        let start = clock.now
        let response = try await loader.response(for: request(to: server, Self.large) { $0.streamsResponse = streams })
        #expect(response.status == 200)
        #expect(try await response.body.collect() == Array((answer.hasSuffix("ok") ? "ok" : "").utf8))
        #expect(try #require(response.exchange.bytesSent) < 20_000_000)
        // Without the answer's end in sight it would be the idle limit. How busy the machine is decides the rest.
        #expect(clock.now - start < .seconds(60))
        // What is left of the body must not be taken for another request.
        #expect(try await loader.response(for: request(to: server)).status == 200)
        #expect(server.connectionCount == 2)
    }

    @Test("a whole answer counts although the connection is lost then, also where its coding was undone")
    func lost() async throws {
        let coded: [UInt8] = [
            31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 203, 207, 6, 0, 71, 221, 220, 121, 2, 0, 0, 0,
        ]
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: \(coded.count)\r\n\r\n")
            connection.write(coded)
            // To close with something unread resets the connection, and the answer must have been read by then.
            usleep(300_000)
        }
        let response = try await loader.response(for: request(to: server, Self.large))
        #expect(try await response.body.collect() == Array("ok".utf8))
    }

    @Test("the same over TLS: an answer counts that came behind session tickets, before the connection was lost")
    func lostOverTLS() async throws {
        let answer = "HTTP/1.1 413 Content Too Large\r\nContent-Length: 2\r\n\r\nno"
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write(answer)
            connection.waitForEnd()
        }
        let fixture = try TLSFixture(upstreamPort: server.port)
        defer { withExtendedLifetime(server) { fixture.stop() } }
        var configuration = CurlLoader.Configuration()
        configuration.trust = .certificateFile(fixture.caPath)
        var pipeEnds: [Int32] = [-1, -1]
        try #require(pipe(&pipeEnds) == 0)
        let (whenLost, lose) = (pipeEnds[0], pipeEnds[1])
        defer { [lose, whenLost].forEach { close($0) } }
        var request = try HTTPRequest(fixture.baseURL + "/", method: .put, body: Self.large)
        // The loop has sent the head, and goes on when the answer has arrived and the connection is lost.
        request.wireObserver = { event in
            var byte: UInt8 = 0
            if case .requestHead = event { _ = read(whenLost, &byte, 1) }
        }
        let loader = try CurlLoader(configuration: configuration)
        let task = Task { [request] in await loader.load(request) }
        #expect(await eventually { fixture.bytesPassedOn == answer.utf8.count })
        fixture.stop()
        #expect(write(lose, [1], 1) == 1)
        let response = try await task.value.get()
        #expect(response.status == 413)
        #expect(try await response.body.collect() == Array("no".utf8))
    }

    @Test("a body that comes slowly is sent to its end although the answer is there")
    func slowBody() async throws {
        let taken = Counter()
        let server = RawServer { connection in
            guard connection.readHead() != nil else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            while connection.read(1) != nil { taken.add(1) }
        }
        let body = HTTPBody.stream(length: 300) {
            AsyncStream { continuation in
                Task {
                    for _ in 0..<3 {
                        continuation.yield([UInt8](repeating: 1, count: 100))
                        try? await Task.sleep(for: .milliseconds(1500))
                    }
                    continuation.finish()
                }
            }
        }
        let response = try await loader.response(for: request(to: server, body))
        #expect(try await response.body.collect() == Array("ok".utf8))
        #expect(await eventually { taken.value == 300 })
    }

    @Test(
        "R3: where an answer leaves the body that `Expect` announced unsent, the next request goes over another connection",
        arguments: [3, 100_000],
        [false, true]
    )
    func announcedBody(size: Int, isStream: Bool) async throws {
        let (sent, foreign) = (Counter(), Counter())
        let server = RawServer { connection in
            guard let head = connection.readHead() else { return }
            connection.write("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
            guard head.contains("Expect: ") else { return }
            while let byte = connection.read(1) { (byte == [1] ? sent : foreign).add(1) }
        }
        let bytes = [UInt8](repeating: 1, count: size)
        let stream = HTTPBody.stream(length: Int64(size)) {
            AsyncStream {
                $0.yield(bytes)
                $0.finish()
            }
        }
        let body = isStream ? stream : .bytes(bytes)
        let first = try request(to: server, body) { $0.headers["Expect"] = "100-continue" }
        #expect(try await loader.response(for: first).status == 200)
        #expect(try await loader.response(for: request(to: server, .text("secret"))).status == 200)
        #expect(server.connectionCount == 2)
        // libcurl 7.88 keeps the body back, 8.23 sends it in spite of the answer. Nothing may follow it.
        #expect(sent.value <= size && foreign.value == 0)
    }

    /// What a server does with a request whose body has not come to its end, and what the request comes to.
    struct ServerReply: Sendable, CustomTestStringConvertible {
        var answer: String
        var closes: Bool
        var status: HTTPStatus?

        var testDescription: String { (answer.isEmpty ? "nothing" : answer) + (closes ? ", and closes" : "") }

        static let all = [
            ServerReply(answer: "401 Unauthorized\r\nContent-Length: 2", closes: false, status: 401),
            ServerReply(
                answer: "413 Content Too Large\r\nConnection: close\r\nContent-Length: 2",
                closes: true,
                status: 413
            ),
            ServerReply(answer: "302 Found\r\nLocation: /\r\nConnection: close", closes: true, status: 302),
            ServerReply(answer: "200 OK\r\nContent-Length: 2", closes: true, status: 200),
            ServerReply(answer: "", closes: true, status: nil),
        ]
    }

    @Test(
        "an upload whose source gives nothing more ends when the server has refused it, or has gone",
        .timeLimit(.minutes(5)),
        arguments: ServerReply.all
    )
    func silentSource(reply: ServerReply) async throws {
        let ended = Counter()
        let server = RawServer { connection in
            // Until the body's beginning has come, so that its source is what is waited for.
            guard connection.readHead() != nil, connection.read(3) != nil else { return }
            if !reply.answer.isEmpty { connection.write("HTTP/1.1 \(reply.answer)\r\n\r\nno") }
            if !reply.closes { connection.waitForEnd() }
        }
        let body = HTTPBody.stream(length: 10) {
            AsyncStream { continuation in
                continuation.onTermination = { _ in ended.add(1) }
                continuation.yield([1, 2, 3])
            }
        }
        let result = await loader.load(try request(to: server, body))
        if let status = reply.status {
            #expect(try result.get().status == status)
            #expect(try await result.get().body.collect() == Array("no".utf8))
        } else {
            #expect(try failure(of: result).code == .networkConnectionLost)
        }
        #expect(await eventually { ended.value == 1 })
    }

    @Test(
        "R7: a 417 is the answer, and the request is not sent again without leave",
        arguments: [
            "Content-Length: 2\r\n\r\nno", "Content-Length: 0\r\n\r\n",
            "Connection: close\r\nContent-Length: 2\r\n\r\nno",
        ],
        [3, 100_000]
    )
    func expectationFailed(answer: String, size: Int) async throws {
        let heads = Counter()
        let closes = answer.hasPrefix("Connection: close")
        let server = Self.refusingExpectations(with: answer, closes: closes, heads)
        let response = try await loader.response(for: expecting(from: server, size))
        #expect(response.status == 417)
        // libcurl drops the body where it could use the connection again.
        #expect(try await response.body.collect() == (closes ? Array("no".utf8) : []))
        #expect(heads.value == 1)
        #expect(try await loader.response(for: request(to: server)).status == 200)
        #expect(heads.value == 2)
    }

    @Test("R10: a 417 whose body is cut short is a failure, with what has come of it", arguments: [3, 100_000])
    func expectationFailedAndCut(size: Int) async throws {
        let heads = Counter()
        let server = Self.refusingExpectations(with: "Content-Length: 2\r\n\r\nn", closes: true, heads)
        switch await loader.load(try expecting(from: server, size)) {
        case .failure(let error):
            #expect(error.code == .networkConnectionLost, "\(error)")
            #expect(error.response?.status == 417)
        case .success(let response):
            // From 8.7 on libcurl may close the connection before it has read the body, which it drops in any case.
            // Before 7.80, too.
            #expect(refrain_version() >= 0x080700 || refrain_version() < 0x075000)
            #expect(response.status == 417)
            #expect(try await response.body.collect() == [])
        }
        #expect(heads.value == 1)
    }

    private func expecting(from server: RawServer, _ size: Int) throws -> HTTPRequest {
        try request(to: server, .bytes([UInt8](repeating: 1, count: size))) { $0.headers["Expect"] = "100-continue" }
    }

    private static func refusingExpectations(with answer: String, closes: Bool, _ heads: Counter) -> RawServer {
        RawServer { connection in
            while let head = connection.readHead() {
                heads.add(1)
                let expects = head.contains("Expect: ")
                connection.write(
                    expects
                        ? "HTTP/1.1 417 Expectation Failed\r\n" + answer
                        : "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n"
                )
                if expects, closes { return }
            }
        }
    }
}

extension RawConnection {
    /// Waits until the peer has closed the connection, and reads nothing; a minute and a half at most.
    func waitForEnd() {
        // POLLRDHUP, which the headers declare only if a macro is defined.
        var end = pollfd(fd: descriptor, events: 0x2000, revents: 0)
        _ = poll(&end, 1, 90_000)
    }
}
