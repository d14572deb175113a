// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@Suite("FaultServer: what arrives, and its log", .serialized, .offPool, .timeLimit(.minutes(10)))
struct RequestReaderTests {
    @Test(
        "a malformed request is answered with 400 or its like, the connection is closed in order, and nothing is logged",
        arguments: [
            ("GET /ok\r\n\r\n", 400), ("\u{1}\u{2}\r\n\r\n", 400), ("GET  /ok HTTP/1.1\r\n\r\n", 400),
            ("GET /ok HTTP/2.0\r\n\r\n", 505), ("G@T /ok HTTP/1.1\r\n\r\n", 400), ("GET /ok HTTP/1.1 x\r\n\r\n", 400),
            ("GET /ok HTTP/1.1\r\nno colon\r\n\r\n", 400), ("GET /ok HTTP/1.1\r\nA : b\r\n\r\n", 400),
            ("GET /ok HTTP/1.1\r\nA: b\r\n folded\r\n\r\n", 400), ("GET /ok HTTP/1.1\r\nA: \u{0}\r\n\r\n", 400),
            ("POST /ok HTTP/1.1\r\nContent-Length: x\r\n\r\n", 400),
            ("POST /ok HTTP/1.1\r\nContent-Length: -1\r\n\r\n", 400),
            ("POST /ok HTTP/1.1\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400),
            ("POST /ok HTTP/1.1\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n", 400),
            ("POST /ok HTTP/1.1\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400),
            ("POST /ok HTTP/1.1\r\nTransfer-Encoding: gzip\r\n\r\n", 501),
        ]
    )
    func malformed(_ text: String, _ status: Int) throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.send(text)
        #expect(client.response()?.status == status)
        #expect(client.readAll().end == .fin)
        #expect(server.log.isEmpty)
        #expect(try RawClient.fetch(server.port, "/ok")?.status == 200)
    }

    @Test("a head over 64 KB is answered with 431", arguments: ["GET /ok HTTP/1.1\r\nA: ", ""])
    func longHead(_ start: String) throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.send(start + String(repeating: "a", count: 70_000))
        #expect(client.response()?.status == 431)
        #expect(client.readAll().end == .fin)
    }

    @Test(
        "a malformed chunk is answered with 400",
        arguments: ["zz\r\n", "-1\r\n", "+1\r\nx\r\n", "ffffffffffffffffffff\r\n", "\r\n", "1\r\nxy\r\n"]
    )
    func badChunk(_ chunk: String) throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.send("POST /ok HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n" + chunk)
        #expect(client.response()?.status == 400)
        #expect(client.readAll().end == .fin)
        #expect(server.log.map(\.complete) == [false])
    }

    @Test("random bytes in 300 seeded requests never stop the server")
    func noise() throws {
        let server = try FaultServer()
        defer { server.stop() }
        var generator = Noise(state: 7)
        let pieces = [
            "GET ", "POST ", "/ok", "/echo", " HTTP/1.1", "\r\n", "\n", "\r\n\r\n", "Content-Length: ", "3", "99",
            "\u{0}",
            "Transfer-Encoding: chunked", "abc", "?times=", "%", "%zz", "=&", "é", " ", ":", "Expect: 100-continue",
        ]
        for round in 0..<300 {
            let text = (0..<Int.random(in: 1...20, using: &generator)).map { _ in
                pieces[Int.random(in: 0..<pieces.count, using: &generator)]
            }.joined()
            let client = try RawClient(server.port)
            client.send(text)
            client.finishSending()
            #expect(client.readAll().end != .timeout, "seed 7, round \(round): \(text)")
        }
        #expect(try RawClient.fetch(server.port, "/ok")?.status == 200)
    }

    @Test("the log has connection, number, path, headers and the body's digest, in Swift and as JSON")
    func log() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.request("/echo?a=1", method: "POST", headers: ["X-One: 1", "x-two:  \"2\"  "], body: "abc")
        let echo = try #require(client.response())
        client.request("/ok")
        _ = client.response()
        client.request("/log")
        let json = try #require(client.response()).text

        let entries = server.log
        #expect(entries.map(\.path) == ["/echo?a=1", "/ok"])
        #expect(entries.map(\.number) == [1, 2])
        #expect(entries.map(\.connection) == [1, 1])
        #expect(entries[0].headers.contains(["x-two", "\"2\""]))
        #expect(entries[0].bodyLength == 3)
        let digest = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
        #expect(entries[0].bodySHA256 == digest)
        #expect(entries.allSatisfy { $0.complete && $0.ended == .done })
        #expect(abs(entries[0].unixTime - Thread.wallNow()) < 60)
        #expect(entries[0].time >= 0 && entries[1].time >= entries[0].time)
        #expect(json.contains("\"path\":\"/echo?a=1\""))
        #expect(json.contains("[\"x-two\",\"\\\"2\\\"\"]"))
        #expect(json.contains("\"body_length\":3,\"body_sha256\":\"\(digest)\",\"complete\":true"))
        #expect(echo.text.contains("\"body\":\"abc\"") && echo.text.contains(digest))

        #expect(server.count(path: "/echo") == 1)
        #expect(server.count(path: "/echo?a=1") == 1)
        #expect(server.count(path: "/echo?a=2") == 0)
        server.clearLog()
        #expect(server.log.isEmpty)
    }

    @Test("a request whose body never ends is logged as incomplete, with the bytes that came")
    func incomplete() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.send("POST /ok HTTP/1.1\r\nContent-Length: 10\r\n\r\nabcd")
        client.finishSending()
        let (rest, end) = client.readAll()
        #expect(rest.isEmpty && end == .fin)
        let entry = try #require(server.log.first)
        #expect(!entry.complete && entry.bodyLength == 4 && entry.bodySHA256 == nil && entry.ended == .clientLeft)
    }

    @Test("a chunked request body is read with extensions and trailers, and the connection lives")
    func chunked() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.send(
            "POST /echo HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n5;x=y\r\nhello\r\n6\r\n world\r\n0\r\nT: 1\r\n\r\n"
        )
        #expect(client.response()?.text.contains("\"body\":\"hello world\"") == true)
        client.request("/ok")
        #expect(client.response()?.status == 200)
        #expect(server.log.map(\.number) == [1, 2])
    }

    @Test("Expect: 100-continue is answered before the body; status= refuses, ignore=1 keeps silent")
    func expect() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let head = "HTTP/1.1\r\nContent-Length: 3\r\nExpect: 100-continue\r\n\r\n"
        for target in ["/ok", "/expect"] {
            let client = try RawClient(server.port)
            client.send("POST \(target) \(head)")
            #expect(client.response()?.status == 100)
            client.send("abc")
            #expect(client.response()?.status == 200)
        }
        let refused = try RawClient(server.port)
        refused.send("POST /expect?status=417 \(head)")
        #expect(refused.response()?.status == 417)
        #expect(refused.readAll().end == .fin)
        let ignored = try RawClient(server.port)
        ignored.send("POST /expect?ignore=1 \(head)")
        ignored.send("abc")
        #expect(ignored.response()?.status == 200)
    }

    @Test("an early response comes before the body; the connection lives when the body follows")
    func early() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.send("POST /early-response?status=413 HTTP/1.1\r\nContent-Length: 3\r\n\r\n")
        #expect(client.response()?.status == 413)
        client.send("abc")
        client.request("/ok")
        #expect(client.response()?.status == 200)
        let closing = try RawClient(server.port)
        closing.send("POST /early-response?close=1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n")
        #expect(closing.response()?.status == 200)
        #expect(closing.readAll().end == .fin)
    }

    @Test("HEAD gets headers only; HTTP/1.0 closes; pipelined requests and absolute targets work")
    func forms() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.request("/bytes/1000", method: "HEAD")
        #expect(client.response(toHead: true)?["Content-Length"] == "1000")
        client.send("GET /ok HTTP/1.1\r\n\r\nGET http://example.com/ok?x HTTP/1.1\r\n\r\nOPTIONS * HTTP/1.1\n\n")
        for _ in 0..<3 { #expect(client.response()?.status == 200) }
        #expect(server.log.map(\.path) == ["/bytes/1000", "/ok", "/ok?x", "*"])
        let old = try RawClient(server.port)
        old.send("GET /ok HTTP/1.0\r\n\r\n")
        #expect(old.response()?["Connection"] == "close")
        #expect(old.readAll().end == .fin)
    }

    @Test("the log keeps at most as many entries as it may, the newest ones")
    func logLimit() throws {
        let server = try FaultServer(logLimit: 10)
        defer { server.stop() }
        let client = try RawClient(server.port)
        for number in 0..<25 {
            client.request("/ok?\(number)")
            _ = client.response()
        }
        #expect(server.log.count <= 10)
        #expect(server.log.last?.path == "/ok?24")
        // The end of an exchange is noted after its answer has left.
        let start = Thread.now()
        while server.log.last?.ended == nil, Thread.now() - start < 90 { Thread.pause() }
        #expect(server.log.last?.ended == .done)
    }

    @Test("R31: a slice of any size is sent in pieces that fit into memory")
    func anySlice() throws {
        let server = try FaultServer()
        defer { server.stop() }
        server.on("/mine") { _ in
            var generator = FaultServer.Generator(count: .max) { _, count in [UInt8](repeating: 7, count: count) }
            generator.slice = .max
            return [.head(.init(200, headers: [("Content-Length", "\(Int.max)")])), .generate(generator)]
        }
        for target in ["/mine", "/bytes/1125899906842624?slow=1125899906842624&no-digest"] {
            let client = try RawClient(server.port)
            client.request(target)
            #expect(client.readAll(limit: 3_000_000).end == .limit)
        }
    }

    @Test("a generator that gives less than it is asked for is no end of its chunks")
    func fewBytes() throws {
        let server = try FaultServer()
        defer { server.stop() }
        server.on("/few") { _ in
            var generator = FaultServer.Generator(count: 40) { offset, _ in offset % 20 == 0 ? [65] : [] }
            generator.slice = 10
            generator.framing = .chunked(sendsLastChunk: true)
            return [.head(.init(200, headers: [("Transfer-Encoding", "chunked")])), .generate(generator)]
        }
        let client = try RawClient(server.port)
        for _ in 0..<2 {
            client.request("/few")
            #expect(client.response()?.text == "AA")
        }
    }

    @Test(
        "close counts in a list of connection options too",
        arguments: ["close, TE", "TE ,Close", "keep-alive, close"]
    )
    func closeInList(field: String) throws {
        let server = try FaultServer()
        defer { server.stop() }
        let client = try RawClient(server.port)
        client.request("/ok", headers: ["Connection: \(field)"])
        #expect(client.readAll().end == .fin)
    }
}

struct Noise: RandomNumberGenerator {
    var state: UInt64

    mutating func next() -> UInt64 {
        state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
        return (state ^ state >> 29) &* 0xbf58_476d_1ce4_e5b9
    }
}
