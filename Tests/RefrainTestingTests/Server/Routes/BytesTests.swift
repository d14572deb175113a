// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@Suite("FaultServer: /bytes/N", .serialized, .offPool, .timeLimit(.minutes(10)))
struct BytesTests {
    @Test("the same length and seed give the same bytes, others give others; the digest is that of the bytes")
    func deterministic() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let first = try #require(try RawClient.fetch(server.port, "/bytes/100001"))
        let again = try #require(try RawClient.fetch(server.port, "/bytes/100001?x=1"))
        let seeded = try #require(try RawClient.fetch(server.port, "/bytes/100001?seed=1"))
        let longer = try #require(try RawClient.fetch(server.port, "/bytes/100002"))
        #expect(first.body.count == 100_001)
        #expect(first.body == again.body)
        #expect(first.body != seeded.body)
        #expect(first["ETag"] != seeded["ETag"])
        #expect(first.body != Array(longer.body.prefix(100_001)))
        #expect(first["X-Content-SHA256"] == SHA256.hex(of: first.body))
        #expect(first["Last-Modified"] == "Wed, 01 Jan 2020 00:00:00 GMT")
        #expect(first["Accept-Ranges"] == "bytes")
        #expect(try RawClient.fetch(server.port, "/bytes/0")?.body.isEmpty == true)
    }

    @Test(
        "a range is answered by RFC 9110 §14",
        arguments: [
            ("bytes=0-0", 206, 0, 1), ("bytes=10-19", 206, 10, 20), ("bytes=999-", 206, 999, 1000),
            ("bytes=0-99999", 206, 0, 1000), ("bytes=-1", 206, 999, 1000), ("bytes=-5000", 206, 0, 1000),
            ("bytes=13-99999999999999999999999", 206, 13, 1000),
            ("bytes=1000-", 416, 0, 0), ("bytes=-0", 416, 0, 0), ("bytes=99999999999999999999999-", 416, 0, 0),
            ("bytes=5-4", 200, 0, 1000), ("lines=0-1", 200, 0, 1000), ("bytes=0-1,3-4", 200, 0, 1000),
            ("bytes=", 200, 0, 1000), ("bytes=-", 200, 0, 1000), ("bytes=a-b", 200, 0, 1000),
        ]
    )
    func ranges(_ range: String, _ status: Int, _ from: Int, _ to: Int) throws {
        let server = try FaultServer()
        defer { server.stop() }
        let whole = try #require(try RawClient.fetch(server.port, "/bytes/1000")).body
        let part = try #require(try RawClient.fetch(server.port, "/bytes/1000", headers: ["Range: \(range)"]))
        #expect(part.status == status)
        switch status {
        case 206:
            #expect(part["Content-Range"] == "bytes \(from)-\(to - 1)/1000")
            #expect(part.body == Array(whole[from..<to]))
        case 416: #expect(part["Content-Range"] == "bytes */1000")
        default: #expect(part.body == whole)
        }
    }

    @Test("If-Range must match a strong tag or the exact date")
    func ifRange() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let whole = try #require(try RawClient.fetch(server.port, "/bytes/1000"))
        let tag = try #require(whole["ETag"])
        let date = try #require(whole["Last-Modified"])
        func status(_ condition: String, _ options: String = "") throws -> Int? {
            let headers = ["Range: bytes=5-", "If-Range: \(condition)"]
            return try RawClient.fetch(server.port, "/bytes/1000" + options, headers: headers)?.status
        }
        #expect(try status(tag) == 206)
        #expect(try status(date) == 206)
        #expect(try status("\"other\"") == 200)
        #expect(try status("W/" + tag) == 200)
        #expect(try status("W/" + tag, "?etag=weak") == 200)
        #expect(try status(tag, "?etag=none") == 200)
        #expect(try status("Thu, 02 Jan 2020 00:00:00 GMT") == 200)
        #expect(try status(date, "?last-modified=none") == 200)
    }

    @Test("cut=K delivers K bytes of each answer, so that resuming goes on; times=M cuts only the first M")
    func cut() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let whole = try #require(try RawClient.fetch(server.port, "/bytes/1000")).body
        for option in ["cut=400", "cut-each=400"] {
            var collected: [UInt8] = []
            var sends = 0
            while collected.count < 1000, sends < 10 {
                let client = try RawClient(server.port)
                client.request(
                    "/bytes/1000?\(option)",
                    headers: ["Range: bytes=\(collected.count)-", "Connection: close"]
                )
                let (bytes, end) = client.readAll()
                #expect(end == .fin)
                collected += body(bytes)
                sends += 1
            }
            #expect(collected == whole)
            #expect(sends == 3)
        }
        let target = "/bytes/1000?cut=10&times=1&reset=1"
        let first = try RawClient.exchange(server.port, target)
        #expect(first.end == .reset && body(first.bytes) == Array(whole.prefix(10)))
        #expect(try RawClient.fetch(server.port, target)?.body == whole)
    }

    @Test("chunked=1 sends chunks, with cut= without the last one")
    func chunked() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let whole = try #require(try RawClient.fetch(server.port, "/bytes/200000")).body
        let chunked = try #require(try RawClient.fetch(server.port, "/bytes/200000?chunked=1"))
        #expect(chunked["Content-Length"] == nil && chunked["Transfer-Encoding"] == "chunked")
        #expect(chunked.body == whole)
        let (bytes, end) = try RawClient.exchange(server.port, "/bytes/1000?chunked=1&cut=10")
        #expect(end == .fin && RawResponse.parse(bytes) == nil)
        #expect(!String(decoding: bytes, as: UTF8.self).hasSuffix("0\r\n\r\n"))
    }

    @Test("no-range, wrong-range, wrong-total, multipart-range and etag=changing misbehave as they say")
    func lies() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let range = ["Range: bytes=100-199"]
        let whole = try #require(try RawClient.fetch(server.port, "/bytes/1000")).body
        let ignored = try #require(try RawClient.fetch(server.port, "/bytes/1000?no-range=1", headers: range))
        #expect(ignored.status == 200 && ignored.body == whole && ignored["Accept-Ranges"] == nil)
        let shifted = try #require(try RawClient.fetch(server.port, "/bytes/1000?wrong-range=1", headers: range))
        #expect(shifted["Content-Range"] == "bytes 99-199/1000" && shifted.body == Array(whole[99..<200]))
        let total = try #require(try RawClient.fetch(server.port, "/bytes/1000?wrong-total=1", headers: range))
        #expect(total["Content-Range"] == "bytes 100-199/1001")
        let parts = try #require(try RawClient.fetch(server.port, "/bytes/1000?multipart-range=1", headers: range))
        #expect(parts.status == 206 && parts["Content-Range"] == nil)
        #expect(parts["Content-Type"] == "multipart/byteranges; boundary=frontier")
        let first = try #require(try RawClient.fetch(server.port, "/bytes/1000?etag=changing"))
        let second = try #require(try RawClient.fetch(server.port, "/bytes/1000?etag=changing"))
        #expect(first["ETag"] != second["ETag"] && first.body != second.body)
        #expect(second["X-Content-SHA256"] == SHA256.hex(of: second.body))
        for target in ["/bytes/0?wrong-range=1", "/bytes/1?wrong-range=1", "/bytes/1?multipart-range=1"] {
            #expect(try RawClient.fetch(server.port, target, headers: ["Range: bytes=0-"]) != nil)
        }
        let large = "/bytes/1000000000000000?multipart-range=1"
        #expect(try RawClient.fetch(server.port, large, headers: ["Range: bytes=0-"])?.status == 400)
    }

    @Test("slow= takes the time it should; encoding=gzip is a true gzip file")
    func slowAndCoded() throws {
        let server = try FaultServer()
        defer { server.stop() }
        let start = Thread.now()
        #expect(try RawClient.fetch(server.port, "/bytes/1000?slow=4000")?.body.count == 1000)
        #expect(Thread.now() - start > 0.15)
        let coded = try #require(try RawClient.fetch(server.port, "/bytes/100000?encoding=gzip"))
        #expect(coded["Content-Encoding"] == "gzip")
        let decoded = try #require(gunzip(coded.body))
        #expect(SHA256.hex(of: decoded) == coded["X-Content-SHA256"])
    }

    private func body(_ bytes: [UInt8]) -> [UInt8] {
        RawResponse.endOfHead(bytes).map { Array(bytes[($0 + 4)...]) } ?? []
    }
}
