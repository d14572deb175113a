// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("Servers that do not understand a range")
struct RefusedRangeTests {
    private let clock = TestClock(.autoAdvancing)
    private let mock = MockLoader()
    private let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) }

    private var chain: some HTTPLoader {
        Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
            --> Resume(clocks: clock.retryClocks())
            --> mock
    }

    private func part(_ range: Range<Int>, _ status: HTTPStatus, _ headers: HTTPHeaders, cut: Bool = false)
        -> MockLoader.Reply
    {
        MockLoader.Reply { [content] request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                stream.yield(Array(content[range]))
                stream.finish(throwing: cut ? HTTPError(.networkConnectionLost, request: request, bytesSent: 9) : nil)
            }
            return .success(HTTPResponse(request: request, status: status, headers: headers, body: .oneShot(chunks)))
        }
    }

    private let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "1000"]

    private func load(_ download: Download, _ path: String = "/file") async throws -> HTTPResult {
        var request = try HTTPRequest("http://a.example\(path)")
        request.download = download
        return await chain.load(request)
    }

    private var ranges: [String?] { mock.requests.map { $0.headers["Range"] } }

    @Test(
        "R11: a 200 with a Content-Range, or with several parts, is no whole, and no range is asked for after it",
        arguments: [
            ["Content-Range": "bytes 400-999/1000", "Content-Length": "600"],
            ["Content-Range": "bytes 400-999/*", "Content-Length": "600"],
            ["Content-Range": "bytes 400-", "Content-Length": "600"],
            ["Content-Range": "bytes 0-599/1000", "Content-Length": "600"],
            ["Content-Range": "bytes 0-599/*", "Content-Length": "600"],
            ["Content-Range": "bytes 0-999/1000", "Content-Length": "600"],
            ["Content-Type": "multipart/byteranges; boundary=x", "Content-Length": "600"],
        ] as [HTTPHeaders]
    )
    func partAsWhole(fields: HTTPHeaders) async throws {
        for status in [200, 203] as [HTTPStatus] {
            let before = mock.requests.count
            var fields = fields
            fields["ETag"] = "\"v1\""
            mock.then(part(0..<400, 200, whole, cut: true)).then(part(400..<1000, status, fields))
                .then(part(0..<1000, 200, whole))
            let sink = BufferSink()
            let result = try await load(Download(to: sink))
            #expect(sink.bytes == content && result.attempts.count == 3)
            #expect(Array(ranges[before...]) == [nil, "bytes=400-", nil])
        }
    }

    @Test("R11: a 200 whose Content-Range covers the whole is the whole")
    func wholeWithRange() async throws {
        var fields = whole
        fields["Content-Range"] = "bytes 0-999/1000"
        mock.then(part(0..<400, 200, whole, cut: true)).then(part(0..<1000, 200, fields))
        let sink = BufferSink()
        #expect(try await load(Download(to: sink)).attempts.count == 2)
        #expect(sink.bytes == content)
    }

    @Test("R10: a 200 that says by its Content-Range that it is a part is none of a request without a range either")
    func unaskedPart() async throws {
        let fields: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "600", "Content-Range": "bytes 0-599/1000"]
        mock.otherwise(part(0..<600, 200, fields))
        let sink = BufferSink()
        let result = try await load(Download(to: sink))
        #expect(result.errorCode == .badServerResponse && mock.requests.count == 2 && sink.bytes.isEmpty)
    }

    @Test("R31: a 200 whose Content-Range has the largest position of all is a part like any other")
    func largestPosition() async throws {
        let fields: HTTPHeaders = ["Content-Length": "600", "Content-Range": "bytes 0-\(Int64.max)/*"]
        mock.otherwise(part(0..<600, 200, fields))
        let sink = BufferSink()
        let result = try await load(Download(to: sink))
        #expect(result.errorCode == .badServerResponse && mock.requests.count == 2 && sink.bytes.isEmpty)
    }

    @Test("A range that the caller asked for may come with 200")
    func ownRange() async throws {
        let fields: HTTPHeaders = ["Content-Length": "600", "Content-Range": "bytes 0-599/1000"]
        mock.then(part(0..<600, 200, fields))
        let sink = BufferSink()
        var request = try HTTPRequest("http://a.example/file", headers: ["Range": "bytes=0-599"])
        request.download = Download(to: sink)
        #expect(try await chain.load(request).get().status == .ok)
        #expect(sink.bytes == Array(content[..<600]))
    }

    @Test(
        "R11: a server that refuses our range is asked once without it, and not for another range",
        arguments: [400, 403, 405, 416, 501] as [HTTPStatus]
    )
    func refused(status: HTTPStatus) async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(.status(status))
            .then(part(0..<700, 200, whole, cut: true))
        let sink = BufferSink()
        let download = Download(to: sink)
        #expect(try await load(download).errorCode == .networkConnectionLost)
        #expect(ranges == [nil, "bytes=400-", nil])
        #expect(download.checkpoint == nil)
        mock.then(part(0..<1000, 200, whole))
        _ = try await load(download).get()
        #expect(sink.bytes == content && ranges.last == .some(nil))
    }

    @Test(
        "R11: what is refused without a range as well is an answer, and the bytes stay",
        arguments: [400, 403, 405, 501]
    )
    func refusedForAll(status: Int) async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(.status(HTTPStatus(rawValue: status)))
            .then(.status(HTTPStatus(rawValue: status)))
        let sink = BufferSink()
        let download = Download(to: sink)
        #expect(try await load(download).get().status.rawValue == status)
        #expect(sink.bytes.count == 400 && download.checkpoint?.offset == 400)
        mock.then(part(400..<1000, 206, ["ETag": "\"v1\"", "Content-Range": "bytes 400-999/1000"]))
        _ = try await load(download).get()
        #expect(sink.bytes == content)
    }

    @Test(
        "R18: a limit of requests is no refusal of a range",
        arguments: [["Retry-After": "100000"], ["X-RateLimit-Remaining": "0"]] as [HTTPHeaders]
    )
    func limited(fields: HTTPHeaders) async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(.status(403, headers: fields))
        mock.otherwise(.status(500))
        let sink = BufferSink()
        _ = try await load(Download(to: sink))
        #expect(!ranges[1...].contains(nil) && sink.bytes.count == 400)
    }

    @Test(
        "R11: after a refusal because the content has changed, the new content goes on by ranges",
        arguments: [412, 416] as [HTTPStatus]
    )
    func changed(status: HTTPStatus) async throws {
        let new: HTTPHeaders = ["ETag": "\"v2\"", "Content-Length": "1000"]
        mock.then(part(0..<400, 200, whole, cut: true)).then(.status(status)).then(part(0..<700, 200, new, cut: true))
        let download = Download(to: BufferSink())
        _ = try await load(download)
        #expect(download.checkpoint?.offset == 700)
    }

    @Test(
        "R11: a 412 for the caller's own condition is an answer, and the bytes stay",
        arguments: ["If-Match", "If-Unmodified-Since"]
    )
    func failedCondition(name: String) async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(.status(412))
        let sink = BufferSink()
        var request = try HTTPRequest("http://a.example/file", headers: [name: "\"v1\""])
        request.download = Download(to: sink)
        #expect(try await chain.load(request).get().status.rawValue == 412)
        #expect(sink.bytes.count == 400 && ranges == [nil, "bytes=400-"])
    }

    @Test("R31: a part that ends at its beginning, or before, is one of a byte", arguments: [0, -1, Int64.min])
    func endOfPart(end: Int64) async throws {
        let mock = MockLoader().otherwise(.status(404))
        var request = try HTTPRequest("https://example.com/file")
        request.download = Download(to: BufferSink(), from: nil, upTo: end)
        _ = await (Resume() --> mock).load(request)
        #expect(mock.requests.map { $0.headers["Range"] } == ["bytes=0-0"])
    }

    @Test("R11: an origin that has refused a range is not asked for the beginning of another file by one")
    func rememberedByOrigin() async throws {
        let loader = chain
        func load(_ url: String) async throws {
            var request = try HTTPRequest(url)
            request.download = Download(to: BufferSink(), from: nil, upTo: 100)
            _ = try await loader.load(request).get()
        }
        mock.then(.status(403)).then(part(0..<1000, 200, whole)).then(part(0..<1000, 200, whole))
            .then(part(0..<1000, 200, whole))
        try await load("http://a.example/1")
        try await load("http://a.example:80/2")
        try await load("http://b.example/3")
        #expect(ranges == ["bytes=0-99", nil, nil, "bytes=0-99"])
    }

    @Test("A sink that has passed bytes on is not asked to take them back for a refused range")
    func passedOn() async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(.status(403))
        let sink = BufferSink(mayStartOver: false)
        #expect(try await load(Download(to: sink)).get().status == 403)
        #expect(mock.requests.count == 2)
    }
}

private final class BufferSink: Download.Sink {
    private let state = Locked([UInt8]())
    let canStartOver: Bool

    init(mayStartOver: Bool = true) { canStartOver = mayStartOver }

    var bytes: [UInt8] { state.withLock { $0 } }

    func write(_ bytes: [UInt8]) async throws { state.withLock { $0 += bytes } }

    func startOver() async throws {
        guard canStartOver else { throw Download.CannotStartOver() }
        state.withLock { $0 = [] }
    }
}
