// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import TestSupport
import Testing

@testable import RefrainCurl

@Suite("Reading heads", .timeLimit(.minutes(10)))
struct HeadReaderTests {
    /// Reads a head; nil where it is no head, or not a whole one.
    private func read(_ lines: [String], _ reader: inout HeadReader) -> ReceivedHead? {
        reader.begin()
        for line in lines {
            let bytes = Array((line + "\r\n").utf8)
            switch bytes.withUnsafeBufferPointer({ reader.read($0) }) {
            case .goOn: continue
            case .complete: return reader.head
            case .refuse: return nil
            }
        }
        return nil
    }

    private func expectSame(_ left: ReceivedHead?, _ right: ReceivedHead?, _ comment: Comment) {
        #expect((left == nil) == (right == nil), comment)
        #expect(left?.status == right?.status, comment)
        #expect(left?.version == right?.version, comment)
        #expect(left?.headers == right?.headers, comment)
        #expect(left?.contentLength == right?.contentLength, comment)
        #expect(left?.isChunked == right?.isChunked, comment)
        #expect(left?.hasTransferCoding == right?.hasTransferCoding, comment)
        #expect(left?.coding == right?.coding, comment)
    }

    @Test("A head that comes again says the same again")
    func sameHead() {
        var reader = HeadReader()
        let lines = ["HTTP/1.1 200 OK", "Date: now", "Content-Length: 2", ""]
        for _ in 0..<3 {
            let head = read(lines, &reader)
            #expect(head?.status == 200)
            #expect(head?.headers["Date"] == "now")
            #expect(head?.contentLength == 2)
        }
    }

    @Test("R10: a length beside a transfer coding says nothing, also in a head that comes again")
    func sameCoding() {
        var reader = HeadReader()
        for _ in 0..<2 {
            let head = read(["HTTP/1.1 200 OK", "Transfer-Encoding: identity", "Content-Length: 2", ""], &reader)
            #expect(head?.hasTransferCoding == true && head?.contentLength == nil)
        }
    }

    @Test("R26: bytes of a Location that are not UTF-8 are percent-encoded, and name what the server named")
    func location() {
        for (value, expected) in [
            (Array("/caf".utf8) + [0xE9, 0x3F, 0xFF], "/caf%E9?%FF"), (Array("/café%20".utf8), "/café%20"),
        ] {
            var reader = HeadReader()
            reader.begin()
            for line in [Array("HTTP/1.1 302 Found".utf8), Array("location: ".utf8) + value, []] {
                _ = (line + [0x0D, 0x0A]).withUnsafeBufferPointer { reader.read($0) }
            }
            #expect(reader.head.headers["Location"] == expected)
        }
    }

    @Test("A bare CR in a value becomes a space, since it might end a line elsewhere (RFC 9110 §5.5)")
    func bareReturn() {
        var reader = HeadReader()
        let lines = ["HTTP/1.1 302 Found", "X-A: a\rX-B: b", "X-C: c", " \rd", "Location: /a\rb", ""]
        for _ in 0..<3 {
            let head = read(lines, &reader)
            #expect(head?.headers.map(\.value) == ["a X-B: b", "c  d", "/a b"])
        }
        for field in ["Content-Length: 1\r0", "Transfer-Encoding: \rchunked", "X\r-A: b"] {
            #expect(read(["HTTP/1.1 200 OK", field, ""], &reader) == nil, "\(field)")
        }
    }

    @Test(
        "R8: a trailer is left out, or refused where it is no field (RFC 9112 §7.1.2)",
        arguments: [
            ("X-T: late", true), (" folded", true), ("", true), ("no field", false), (": b", false), ("a b: c", false),
        ]
    )
    func trailer(line: String, isField: Bool) {
        var reader = HeadReader()
        #expect(read(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", ""], &reader) != nil)
        let outcome = Array((line + "\r\n").utf8).withUnsafeBufferPointer { reader.read($0) }
        if case .goOn = outcome { #expect(isField) } else { #expect(!isField, "\(outcome)") }
        #expect(reader.head.headers["X-T"] == nil)
    }

    @Test("A head that differs in one line is read anew")
    func otherLine() {
        var reader = HeadReader()
        _ = read(["HTTP/1.1 200 OK", "Server: a", "Date: now", "Content-Length: 2", ""], &reader)
        let head = read(["HTTP/1.1 200 OK", "Server: a", "Date: then", "Content-Length: 3", ""], &reader)
        #expect(head?.headers == ["Server": "a", "Date": "then", "Content-Length": "3"])
        #expect(head?.contentLength == 3)
    }

    @Test("A value in bytes that are not UTF-8 is read as ISO-8859-1, and its bytes are kept (RFC 9110 §5.5)")
    func latin1() throws {
        var reader = HeadReader()
        let lines: [[UInt8]] = [
            Array("HTTP/1.1 200 OK".utf8), Array("X-Latin: caf".utf8) + [0xE9], Array("X-UTF: café".utf8),
            Array("X-Folded: a".utf8) + [0xFF], Array(" b".utf8), [],
        ]
        // Twice: the second head is one that is known already.
        for _ in 1...2 {
            reader.begin()
            for line in lines {
                _ = (line + [0x0D, 0x0A]).withUnsafeBufferPointer { reader.read($0) }
            }
            let headers = reader.head.headers
            #expect(headers["X-Latin"] == "café" && headers["X-UTF"] == "café" && headers["X-Folded"] == "a\u{FF} b")
            #expect(headers.map(\.bytes.count) == [4, 5, 4])
            #expect(headers[0].bytes == Array("caf".utf8) + [0xE9] && headers[2].bytes == [0x61, 0xFF, 0x20, 0x62])
            var field = headers[0]
            field.value = "né"
            #expect(field.bytes == Array("né".utf8))
        }
    }

    @Test("A shorter head does not inherit the lines of the longer one before it")
    func shorterHead() {
        var reader = HeadReader()
        _ = read(["HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "Content-Encoding: gzip", ""], &reader)
        let head = read(["HTTP/1.1 200 OK", ""], &reader)
        #expect(head?.headers == [:])
        #expect(head?.isChunked == false)
        #expect(head?.coding == ContentCoding.none)
    }

    @Test("The fields of a 1xx response stay out of the final one, remembered or not")
    func informational() {
        var reader = HeadReader()
        let early = ["HTTP/1.1 103 Early Hints", "Link: </style.css>", ""]
        for value in ["a", "a", "b", "b", "a"] {
            let head = read(early + ["HTTP/1.1 200 OK", "X: \(value)", ""], &reader)
            #expect(head?.status == 200)
            #expect(head?.headers == ["X": value])
        }
    }

    @Test("R10: each head has one status line, at its beginning, also where the head before is remembered")
    func statusLines() {
        var reader = HeadReader()
        let status = "HTTP/1.1 200 OK"
        let early = "HTTP/1.1 103 Early Hints"
        for _ in 0..<2 {
            #expect(read([early, "A: b", "", status, "Content-Length: 5", ""], &reader)?.contentLength == 5)
            #expect(read([early, "A: b", status, "Content-Length: 5", ""], &reader) == nil)
            #expect(read([status, "Content-Length: 5", ""], &reader)?.contentLength == 5)
            #expect(read([status, "Content-Length: 5", "HTTP/1.1 204 No Content", ""], &reader) == nil)
            #expect(read([status, "Content-Length: 5", ""], &reader)?.contentLength == 5)
            #expect(read([early, "", "Content-Length: 5", status, ""], &reader) == nil)
            #expect(read(["Content-Length: 5", status, ""], &reader) == nil)
        }
    }

    @Test(
        "R10: only a transfer coding says that a body is chunked, and any takes the length from Content-Length",
        arguments: [
            ("chunked", true, true), ("Chunked, identity", true, true), (" , chunked,", true, true),
            ("identity", true, false),
            ("", true, false), ("gzip", false, false), ("chunked;a=b", false, false), ("chunked gzip", false, false),
        ]
    )
    func transferCodings(value: String, isRead: Bool, isChunked: Bool) {
        var reader = HeadReader()
        for _ in 0..<2 {
            let lines = ["HTTP/1.1 200 OK", "Content-Length: 5", "Transfer-Encoding: \(value)", ""]
            let head = read(lines, &reader)
            #expect((head != nil) == isRead)
            #expect((head?.isChunked ?? false) == isChunked)
            #expect(head?.contentLength == nil)
        }
    }

    @Test("The status is known before the head is whole, also where the head is remembered")
    func statusIsKnownEarly() {
        var reader = HeadReader()
        _ = read(["HTTP/2 200 ", "a: b", ""], &reader)
        reader.begin()
        let line = Array("HTTP/2 200 \r\n".utf8)
        _ = line.withUnsafeBufferPointer { reader.read($0) }
        #expect(reader.head.version == .http2)
        #expect(reader.head.status == 200)
        #expect(!reader.head.isComplete)
    }

    @Test("10,000 heads, one after the other, mean what they mean alone", .computing)
    func property() {
        let seed = UInt64(0x5EED)
        var random = Seeded(seed)
        var reader = HeadReader()
        let lines = [
            "Server: a", "Date: now", "Date: then", "Content-Length: 5", "Content-Length: 6", "Content-Length: 5, 5",
            "Transfer-Encoding: chunked", "Content-Encoding: gzip", " folded",
            "X: " + String(repeating: "y", count: 3000),
            "Transfer-Encoding: identity", "Transfer-Encoding: gzip, chunked", "Content-Length : 5",
            "Content-Length: 1 0",
            "no colon", "", "HTTP/1.1 103 Early Hints", "HTTP/1.0 204 No Content", "HTTP/2 503 ",
        ]
        var last: [String] = []
        for _ in 0..<10_000 {
            if Bool.random(using: &random) || last.isEmpty {
                last = ["HTTP/1.1 200 OK"]
                for _ in 0..<Int.random(in: 0...6, using: &random) {
                    last += [lines.randomElement(using: &random) ?? ""]
                }
                last.append("")
            } else if Bool.random(using: &random) {
                let index = Int.random(in: 0..<last.count, using: &random)
                last[index] = lines.randomElement(using: &random) ?? ""
            }
            var other = HeadReader()
            expectSame(read(last, &reader), read(last, &other), "seed \(seed): \(last)")
        }
    }
}

/// A generator that gives the same numbers for the same seed (SplitMix64).
private struct Seeded: RandomNumberGenerator {
    private var state: UInt64

    init(_ seed: UInt64) { state = seed }

    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }
}

@Suite("Reading the response of a proxy to CONNECT", .timeLimit(.minutes(10)))
struct ProxyHeadTests {
    private func headers(_ lines: [String]) -> HTTPHeaders {
        var head = ProxyHead()
        for line in lines { Array((line + "\r\n").utf8).withUnsafeBufferPointer { head.read($0) } }
        return head.headers
    }

    @Test("the fields of the last answer count, trimmed, in order, and repeated ones as often as they come")
    func lastAnswer() {
        let lines = [
            "HTTP/1.1 407 Who are you", "Proxy-Authenticate: Basic", "Retry-After: 7", "",
            "HTTP/1.1 503 Busy", "retry-after: \t3 ", "Via: a", "Via: b", "",
        ]
        #expect(headers(lines) == ["retry-after": "3", "Via": "a", "Via": "b"])
    }

    @Test("what is no field is left out", arguments: ["", "no colon", ": no name", "a space : 1", " folded: 1"])
    func noField(line: String) {
        #expect(headers(["HTTP/1.1 503 Busy", line, "Via: a"]) == ["Via": "a"])
    }

    @Test("there is an end to what is kept")
    func many() {
        let lines = (0..<5000).map { "Field-\($0): 1" }
        #expect(headers(["HTTP/1.1 503 Busy"] + lines).count == HeadReader.maximumLines)
    }
}
