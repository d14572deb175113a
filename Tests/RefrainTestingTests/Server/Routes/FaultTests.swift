// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@Suite("FaultServer: faults on the wire", .serialized, .offPool, .timeLimit(.minutes(10)))
struct FaultTests {
    @Test("cut bodies keep their promise of length and deliver exactly what they say")
    func cutBodies() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for (target, end) in [("/close-body", RawClient.End.fin), ("/reset-body", .reset)] {
            let (bytes, seen) = try RawClient.exchange(server.port, target + "?bytes=5000&after=1234")
            let text = String(decoding: bytes, as: UTF8.self)
            #expect(seen == end)
            #expect(text.contains("Content-Length: 5000\r\n"))
            let head = try #require(RawResponse.endOfHead(bytes))
            #expect(bytes.count - head - 4 == 1234)
        }
        let chunks = try RawClient.exchange(server.port, "/close-chunked")
        #expect(String(decoding: chunks.bytes, as: UTF8.self).hasSuffix("\r\n\r\n5\r\nhello\r\n"))
        let mid = try RawClient.exchange(server.port, "/close-chunked?mid=1")
        #expect(String(decoding: mid.bytes, as: UTF8.self).hasSuffix("xxx") && mid.end == .fin)
        // HEAD has no body to miss.
        let head = try RawClient.exchange(server.port, "/close-body", method: "HEAD")
        #expect(head.end == .fin && head.bytes.suffix(4) == [13, 10, 13, 10])
    }

    @Test("/drop-reused answers a new connection and drops a reused one after it has read the request")
    func dropReused() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for (target, end) in [("/drop-reused", RawClient.End.reset), ("/drop-reused?close=1", .fin)] {
            let client = try RawClient(server.port)
            client.request(target)
            let first = client.response()
            #expect(first?.status == 200 && first?["Connection"] == nil)
            client.request(target, method: "POST", body: "abc")
            let (bytes, seen) = client.readAll()
            #expect(bytes.isEmpty && seen == end)
            #expect(server.requests(toPath: target).map(\.number) == [1, 2])
            #expect(server.requests(toPath: target).last?.complete == true)
        }
        let warm = try RawClient(server.port)
        let dropped = "/drop-reused?times=1"
        warm.request("/ok")
        _ = warm.response()
        warm.request(dropped)
        #expect(warm.readAll().end == .reset)
        let second = try RawClient(server.port)
        second.request("/ok")
        _ = second.response()
        second.request(dropped)
        #expect(second.response()?.status == 200)
    }

    @Test("/drop-idle promises nothing and closes right after its answer")
    func dropIdle() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for (target, end) in [("/drop-idle", RawClient.End.fin), ("/drop-idle?reset=1&ms=5", .reset)] {
            let client = try RawClient(server.port)
            client.request(target)
            let response = client.response()
            #expect(response?.status == 200 && response?["Connection"] == nil)
            #expect(client.readAll().end == end)
        }
    }

    @Test("resets and closes before an answer come after the request was read, or before with unread=1")
    func before() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for name in ["reset", "close"] {
            let client = try RawClient(server.port)
            client.request("/\(name)-before", method: "POST", body: "abc")
            let (bytes, end) = client.readAll()
            #expect(bytes.isEmpty && end == (name == "reset" ? .reset : .fin))
            #expect(server.requests(toPath: "/\(name)-before").first?.bodyLength == 3)
            let unread = try RawClient(server.port)
            unread.send("POST /\(name)-before?unread=1 HTTP/1.1\r\nContent-Length: 3\r\n\r\n")
            let (none, unreadEnd) = unread.readAll()
            #expect(none.isEmpty && unreadEnd == (name == "reset" ? .reset : .fin))
            let entry = server.requests(toPath: "/\(name)-before?unread=1").first
            #expect(entry?.complete == false)
        }
    }

    @Test("the ways in which Content-Length can be wrong")
    func badLength() throws {
        let server = try FaultServer()
        defer { server.stop() }
        func text(_ kind: String) throws -> String {
            String(decoding: try RawClient.exchange(server.port, "/bad-length?kind=\(kind)").bytes, as: UTF8.self)
        }
        let conflict = try text("conflict")
        #expect(conflict.contains("Content-Length: 5\r\n") && conflict.contains("Content-Length: 9\r\n"))
        #expect(try text("negative").contains("Content-Length: -5\r\n"))
        #expect(try text("text").contains("Content-Length: five\r\n"))
        #expect(try text("overflow").contains("Content-Length: " + String(repeating: "9", count: 40)))
        let both = try text("both")
        #expect(both.contains("Content-Length: 5\r\n") && both.contains("Transfer-Encoding: chunked\r\n"))
    }

    @Test("/huge-header has a header of the size asked for; /endless-headers goes on")
    func headers() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let target = "/huge-header?bytes=1000000&name=Retry-After&fill=9"
        let client = try RawClient(server.port)
        client.request(target)
        #expect(client.response()?["Retry-After"] == String(repeating: "9", count: 1_000_000))
        let (bytes, end) = try RawClient.exchange(server.port, "/endless-headers", limit: 2_000_000)
        #expect(end == .limit && !bytes.contains { $0 == 0 })
        #expect(String(decoding: bytes.prefix(200), as: UTF8.self).hasPrefix("HTTP/1.1 200 OK\r\nX-Filler: aaa"))
        let limited = try RawClient.exchange(server.port, "/endless-headers?limit=5000")
        #expect(limited.end == .fin && limited.bytes.count == 5000 + 17)
    }

    @Test("/huge is as long as asked for, in chunks or with a length, and endless without bytes=")
    func huge() throws {
        let server = try FaultServer()
        defer { server.stop() }
        #expect(try RawClient.fetch(server.port, "/huge?bytes=300001")?.body.count == 300_001)
        let sized = try RawClient.fetch(server.port, "/huge?bytes=300001&length=1")
        #expect(sized?.body.count == 300_001 && sized?["Content-Length"] == "300001")
        #expect(try RawClient.exchange(server.port, "/huge", limit: 5_000_000).end == .limit)
    }

    @Test("/bad-gzip cannot be decoded, whatever its kind; /gzip-bomb can")
    func gzip() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for kind in ["deflate", "crc", "magic", "cut"] {
            let response = try #require(try RawClient.fetch(server.port, "/bad-gzip?kind=\(kind)"))
            #expect(response["Content-Encoding"] == "gzip")
            #expect(gunzip(response.body) == nil, "\(kind)")
        }
        let bomb = try #require(try RawClient.fetch(server.port, "/gzip-bomb?bytes=2000000"))
        #expect(bomb.body.count < 2200)
        #expect(gunzip(bomb.body)?.count == 2_000_000)
    }

    @Test("delays, trickles and streams take at least the time that they say")
    func timing() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for (target, least) in [
            ("/delay?ms=120", 0.12), ("/trickle?bytes=13&interval=10", 0.12), ("/stream?chunks=13&interval=10", 0.12),
            ("/trickle-headers?interval=3", 0.1),
        ] {
            let start = Thread.now()
            #expect(try RawClient.fetch(server.port, target)?.status == 200)
            #expect(Thread.now() - start >= least, "\(target)")
        }
        let stream = try #require(try RawClient.fetch(server.port, "/stream?chunks=2&interval=1"))
        #expect(stream.text == "data: 0000000000\n\ndata: 0000000001\n\n")
        let cut = try RawClient.exchange(server.port, "/stream?chunks=5&interval=1&cut=2")
        #expect(cut.end == .fin && RawResponse.parse(cut.bytes) == nil)
    }

    @Test("a client that leaves a hanging request is seen to have left")
    func left() throws {
        let server = try FaultServer()
        defer { server.stop() }
        for target in ["/hang", "/hang-unread"] {
            do {
                let client = try RawClient(server.port)
                client.request(target)
                while server.count(path: target) == 0 { Thread.pause() }
                #expect(server.log.last?.ended == nil)
            }
            let start = Thread.now()
            while server.log.last?.ended == nil, Thread.now() - start < 90 { Thread.pause() }
            #expect(server.log.last?.ended == .clientLeft)
        }
    }
}
