// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import TestSupport
import Testing

@Suite("Downloads that go on")
struct ResumeTests {
    private let clock = TestClock(.autoAdvancing)
    private let mock = MockLoader()
    private let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) }

    private func chain(_ schedule: Backoff = .standard) -> some HTTPLoader {
        Retry(RetryPolicy.recommended.with(schedule: schedule), budgets: nil, clocks: clock.retryClocks())
            --> Resume(clocks: clock.retryClocks()) --> mock
    }

    /// A response that delivers a part of the content, and then fails.
    private func part(
        _ range: Range<Int>,
        status: HTTPStatus,
        headers: HTTPHeaders,
        cut: Bool
    ) -> MockLoader.Reply {
        MockLoader.Reply { [content] request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                stream.yield(Array(content[range]))
                stream.finish(throwing: cut ? HTTPError(.networkConnectionLost, request: request, bytesSent: 9) : nil)
            }
            return .success(
                HTTPResponse(request: request, status: status, headers: headers, body: .oneShot(chunks))
            )
        }
    }

    private let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "1000"]

    private func rest(_ first: Int, _ last: Int) -> HTTPHeaders {
        ["Content-Range": "bytes \(first)-\(last)/1000", "ETag": "\"v1\""]
    }

    private func load(_ sink: CollectingSink, _ loader: some HTTPLoader) async throws -> HTTPResult {
        var request = try HTTPRequest("http://a.example/file")
        request.download = Download(to: sink)
        return await loader.load(request)
    }

    @Test("R11: a checkpoint is made of a strong entity tag or a date, which it returns, and of nothing else")
    func validators() {
        func checkpoint(_ validator: String, offset: Int64 = 1) -> Download.Checkpoint? {
            Download.Checkpoint(
                offset: offset,
                total: nil,
                validator: validator,
                requestedURL: "http://a.example/",
                answeringURL: "http://a.example/",
                fields: ["ETag": "\"v1\""]
            )
        }
        for validator in ["\"v1\"", "\"\"", "Sat, 09 Oct 2004 08:30:00 GMT"] {
            #expect(checkpoint(validator)?.validator == validator)
        }
        for validator in ["", "v1", "W/\"v1\"", "\"v1", "Sat, 09 Oct 2004"] { #expect(checkpoint(validator) == nil) }
        #expect(checkpoint("\"v1\"", offset: -1) == nil)
    }

    @Test("R11: a download goes on from the checkpoint of one that was interrupted, up to the end that is wanted")
    func goesOnElsewhere() async throws {
        let loader = Resume(clocks: clock.retryClocks()) --> mock
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
        let first = Download(to: CollectingSink())
        var request = try HTTPRequest("http://a.example/file")
        request.download = first
        #expect(first.checkpoint == nil)
        _ = await loader.load(request)
        let found = try #require(first.checkpoint)
        let stored = Download.Checkpoint(
            offset: found.offset,
            total: found.total,
            validator: found.validator,
            requestedURL: found.requestedURL,
            answeringURL: found.answeringURL,
            fields: found.fields
        )
        #expect(stored == found)
        mock.then(part(400..<700, status: 206, headers: rest(400, 699), cut: false))
        let sink = CollectingSink()
        request.download = Download(to: sink, from: stored, upTo: 700)
        #expect(try await loader.load(request).get().status == .partialContent)
        #expect(mock.requests.last?.headers["Range"] == "bytes=400-699")
        #expect(sink.bytes == Array(content[400..<700]))
    }

    /// A sink that notes which checkpoints it is told of.
    private final class ObservingSink: Download.Sink {
        let minimumLengthOfCheckpoints: Int64
        let offsets = Locked<[Int64?]>([])

        init(leastLength: Int64) { minimumLengthOfCheckpoints = leastLength }

        func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {
            offsets.withLock { $0.append(checkpoint?.offset) }
        }
        func write(_ bytes: [UInt8]) async throws {}
        func startOver() async throws {}
    }

    @Test("a sink is told of no checkpoint of a content that is too short for it, unless the content goes on")
    func leastLength() async throws {
        for (least, expected) in [(0, [0, 400]), (1000, [0, 400]), (1001, [nil, 400])] as [(Int64, [Int64?])] {
            mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            mock.then(part(400..<1000, status: 206, headers: rest(400, 999), cut: false))
            let sink = ObservingSink(leastLength: least)
            var request = try HTTPRequest("http://a.example/file")
            request.download = Download(to: sink)
            #expect(try await chain().load(request).get().status == .partialContent)
            #expect(sink.offsets.withLock { $0 } == expected)
        }
    }

    @Test("R11: a cut download goes on with Range and If-Range, and no byte is doubled")
    func resumes() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(
                part(
                    400..<1000,
                    status: 206,
                    headers: ["ETag": "\"v1\"", "Content-Range": "bytes 400-999/1000"],
                    cut: false
                )
            )
        let sink = CollectingSink()
        let result = try await load(sink, chain())
        #expect(sink.bytes == content)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-"])
        #expect(mock.requests.map { $0.headers["If-Range"] } == [nil, "\"v1\""])
        #expect(mock.requests.allSatisfy { $0.headers["Accept-Encoding"] == "identity" })
        #expect(result.attempts.map(\.reason) == [.resumed, .succeeded])
    }

    @Test("R11: a download by another method than GET brings its body, and starts over where it was cut")
    func otherMethods() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(part(0..<1000, status: 200, headers: whole, cut: false))
        let sink = CollectingSink()
        var request = try HTTPRequest("http://a.example/file", method: .post, body: .text("which"))
        request.replay = .allowed
        request.download = Download(to: sink)
        _ = try await chain().load(request).get()
        #expect(sink.bytes == content)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, nil])
        #expect(mock.requests.map { $0.headers["If-Range"] } == [nil, nil])
    }

    @Test("R11: a POST that was cut short does not start over, since it must not be sent twice")
    func cutPost() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
        let sink = CollectingSink()
        var request = try HTTPRequest("http://a.example/file", method: .post)
        request.download = Download(to: sink)
        let result = await chain().load(request)
        #expect(result.attempts.map(\.reason) == [.notReplayable])
        #expect(mock.requests.count == 1)
    }

    @Test("R11: resumptions that bring new bytes use up no attempt")
    func freeResumptions() async throws {
        mock.then(part(0..<100, status: 200, headers: whole, cut: true))
        for start in stride(from: 100, to: 1000, by: 100) {
            let headers: HTTPHeaders = ["Content-Range": "bytes \(start)-999/1000", "ETag": "\"v1\""]
            mock.then(part(start..<(start + 100), status: 206, headers: headers, cut: start < 900))
        }
        let sink = CollectingSink()
        let result = try await load(sink, chain())
        #expect(sink.bytes == content)
        #expect(result.attempts.count == 10)
    }

    @Test(
        "R11, R22: a resumption that was worth its request gives back what it drew on the budget",
        arguments: [(100_000, true), (16 << 10, true), (1000, false)]
    )
    func refundedResumptions(bytes: Int, isWhole: Bool) async throws {
        let pieces = 40
        let total = bytes * pieces
        let piece = [UInt8](repeating: 7, count: bytes)
        func reply(_ index: Int) -> MockLoader.Reply {
            let range = "bytes \(index * bytes)-\(total - 1)/\(total)"
            let headers: HTTPHeaders =
                index == 0
                ? ["ETag": "\"v1\"", "Content-Length": "\(total)"] : ["ETag": "\"v1\"", "Content-Range": "\(range)"]
            return MockLoader.Reply { request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                    stream.yield(piece)
                    let cut = HTTPError(.networkConnectionLost, request: request, bytesSent: 9)
                    stream.finish(throwing: index < pieces - 1 ? cut : nil)
                }
                let status: HTTPStatus = index == 0 ? 200 : 206
                return .success(
                    HTTPResponse(request: request, status: status, headers: headers, body: .oneShot(chunks))
                )
            }
        }
        for index in 0..<pieces { mock.then(reply(index)) }
        // Pays for three retries, and accrues nothing while the clock stands still.
        let budget = RetryBudget(ratio: 0, minimumRetriesPerSecond: 3, clock: TestClock())
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .zero))
        let retry = Retry(policy, budgets: .init(all: budget), clocks: clock.retryClocks())
        let loader = retry --> Resume(clocks: clock.retryClocks()) --> mock
        let result = try await load(CollectingSink(), loader)
        #expect((result.attempts.last?.reason == .succeeded) == isWhole)
        #expect(mock.requests.count == (isWhole ? pieces : 4))
    }

    @Test("R11: resumptions that bring nothing use up attempts")
    func emptyResumptions() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
        mock.otherwise(part(400..<400, status: 206, headers: rest(400, 999), cut: true))
        let result = try await load(CollectingSink(), chain())
        #expect(result.attempts.count == 3)
        #expect(result.attempts.last?.reason == .attemptsUsedUp)
    }

    @Test(
        "R11: an answer that is not the rest starts over",
        arguments: [
            ("another start", 206, ["Content-Range": "bytes 399-999/1000", "ETag": "\"v1\""]),
            ("another total", 206, ["Content-Range": "bytes 400-1000/1001", "ETag": "\"v1\""]),
            ("another validator", 206, ["Content-Range": "bytes 400-999/1000", "ETag": "\"v2\""]),
            ("a weak validator", 206, ["Content-Range": "bytes 400-999/1000", "ETag": "W/\"v1\""]),
            ("several parts", 206, ["Content-Type": "multipart/byteranges; boundary=x"]),
            ("no range", 206, [:]),
            ("a coding", 206, ["Content-Range": "bytes 400-999/1000", "Content-Encoding": "gzip"]),
            ("no validator", 206, ["Content-Range": "bytes 400-999/1000"]),
            (
                "several parts with a range", 206,
                [
                    "Content-Range": "bytes 400-999/1000", "ETag": "\"v1\"",
                    "Content-Type": "Multipart/ByteRanges; boundary=x",
                ]
            ),
            ("nothing new", 304, ["ETag": "\"v1\""]),
            ("no such range", 416, ["Content-Range": "bytes */1000"]),
            ("a condition that failed", 412, [:]),
            ("an end behind the end", 206, ["Content-Range": "bytes 400-1000/*", "ETag": "\"v1\""]),
        ] as [(String, HTTPStatus, HTTPHeaders)]
    )
    func startsOver(_ name: String, status: HTTPStatus, headers: HTTPHeaders) async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(part(400..<1000, status: status, headers: headers, cut: false))
            .then(part(0..<1000, status: 200, headers: whole, cut: false))
        let sink = CollectingSink()
        let result = try await load(sink, chain())
        #expect(sink.bytes == content, "\(name)")
        #expect(mock.requests.last?.headers.contains("Range") == false)
        #expect(result.attempts.count == 3)
    }

    @Test("R11: a 200 in place of the rest is the whole")
    func wholeAgain() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(part(0..<1000, status: 200, headers: ["ETag": "\"v2\"", "Content-Length": "1000"], cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain())
        #expect(sink.bytes == content)
        #expect(sink.restarts == 1)
    }

    @Test(
        "R11: without a strong validator, or with a content coding, a cut starts over and uses up an attempt",
        arguments: [
            ["Content-Length": "1000"],
            ["ETag": "W/\"v1\"", "Content-Length": "1000"],
            ["Last-Modified": "Mon, 03 Jun 2019 10:59:59 GMT", "Date": "Mon, 03 Jun 2019 11:00:00 GMT"],
            ["ETag": "\"v1\"", "Content-Encoding": "gzip"],
            ["ETag": "\"v1\"", "Accept-Ranges": "none"],
        ] as [HTTPHeaders]
    )
    func notResumable(headers: HTTPHeaders) async throws {
        mock.then(times: 3, part(0..<400, status: 200, headers: headers, cut: true))
        let sink = CollectingSink()
        let result = try await load(sink, chain())
        #expect(mock.requests.allSatisfy { !$0.headers.contains("Range") })
        #expect(result.attempts.count == 3)
        #expect(sink.restarts == 2)
    }

    @Test("R11: a Last-Modified that is old enough is a validator")
    func lastModified() async throws {
        let date = "Mon, 03 Jun 2019 10:00:00 GMT"
        let headers: HTTPHeaders = [
            "Last-Modified": date, "Date": "Mon, 03 Jun 2019 11:00:00 GMT", "Content-Length": "1000",
        ]
        mock.then(part(0..<400, status: 200, headers: headers, cut: true))
            .then(part(400..<1000, status: 206, headers: ["Content-Range": "bytes 400-999/1000"], cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain())
        #expect(sink.bytes == content)
        #expect(mock.requests.last?.headers["If-Range"] == date)
    }

    @Test("R11: a part with an entity tag that the beginning did not have is of another content")
    func newEntityTag() async throws {
        let headers: HTTPHeaders = [
            "Last-Modified": "Mon, 03 Jun 2019 10:00:00 GMT", "Date": "Mon, 03 Jun 2019 11:00:00 GMT",
            "Content-Length": "1000",
        ]
        mock.then(part(0..<400, status: 200, headers: headers, cut: true))
            .then(part(400..<1000, status: 206, headers: rest(400, 999), cut: false))
            .then(part(0..<1000, status: 200, headers: headers, cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain()).get()
        #expect(sink.bytes == content)
        #expect(sink.restarts == 1)
    }

    @Test("R11: a 304 is an answer only to a request that was made on a condition (RFC 9110 §13.1)")
    func notModified() async throws {
        mock.otherwise(.status(304, headers: ["ETag": "\"v1\""]))
        let result = try await load(CollectingSink(), chain())
        let error = try #require(throws: HTTPError.self) { try result.get() }
        // Garbage of a kind, so it is asked for once more.
        #expect(error.code == .badServerResponse && error.attempts.count == 2)
        var request = try HTTPRequest("http://a.example/file", headers: ["If-None-Match": "\"v1\""])
        request.download = Download(to: CollectingSink())
        #expect(try await chain().load(request).get().status == 304)
    }

    @Test("R10, R11: Transfer-Encoding beats a Content-Length that is too long (RFC 9112 §6.3)")
    func transferEncoding() async throws {
        let headers: HTTPHeaders = ["Content-Length": "5000", "Transfer-Encoding": "chunked", "ETag": "\"v1\""]
        mock.then(part(0..<1000, status: 200, headers: headers, cut: false))
        let sink = CollectingSink()
        var request = try HTTPRequest("http://a.example/file")
        let download = Download(to: sink)
        request.download = download
        #expect(try await chain().load(request).get().attempts.count == 1)
        #expect(sink.bytes == content && download.bytesExpected == nil)
    }

    @Test("R10: a rest that is shorter or longer than it was said to be is no success")
    func wrongLength() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(part(400..<700, status: 206, headers: rest(400, 999), cut: false))
            .then(part(700..<1000, status: 206, headers: rest(700, 899), cut: false))
            .then(part(0..<1000, status: 200, headers: whole, cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain())
        #expect(sink.bytes == content)
    }

    @Test("R10: where no length was known, a rest is checked by its range, and counts only with a known end")
    func unknownLength() async throws {
        let chunked: HTTPHeaders = ["ETag": "\"v1\""]
        mock.then(part(0..<400, status: 200, headers: chunked, cut: true))
            .then(part(400..<700, status: 206, headers: rest(400, 999), cut: false))
            .then(part(700..<1000, status: 206, headers: rest(700, 999), cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain())
        #expect(sink.bytes == content)
        mock.then(part(0..<400, status: 200, headers: chunked, cut: true))
            .then(
                part(
                    400..<700,
                    status: 206,
                    headers: ["Content-Range": "bytes 400-699/*", "ETag": "\"v1\""],
                    cut: false
                )
            )
            .then(part(0..<1000, status: 200, headers: chunked, cut: false))
        let second = CollectingSink()
        _ = try await load(second, chain())
        #expect(second.bytes == content)
    }

    @Test("R10: a part that was not requested is not the whole, unless it covers it")
    func unaskedPart() async throws {
        mock.then(part(0..<400, status: 206, headers: ["Content-Range": "bytes 0-399/1000"], cut: false))
            .then(part(0..<1000, status: 206, headers: ["Content-Range": "bytes 0-999/1000"], cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain())
        #expect(sink.bytes == content)
        #expect(mock.requests.count == 2)
    }

    @Test("R8: a server that answers with a part again and again is asked twice, and the error says what came")
    func partAgainAndAgain() async throws {
        mock.otherwise(part(0..<400, status: 206, headers: ["Content-Range": "bytes 0-399/1000"], cut: false))
        let sink = CollectingSink()
        let result = try await load(sink, chain(.constant(delay: .seconds(1), maxAttempts: 50)))
        let error = try #require(throws: HTTPError.self) { try result.get() }
        #expect(error.code == .badServerResponse && mock.requests.count == 2 && sink.bytes.isEmpty)
        #expect("\(error)".contains("206 (Content-Range: bytes 0-399/1000)"), "\(error)")
    }

    @Test("R11: the validator of one resource proves nothing of another one, to which a redirect leads")
    func otherResource() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(.status(302, headers: ["Location": "/other"]))
            .then(part(0..<1000, status: 200, headers: whole, cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, Redirect(clocks: clock.retryClocks()) --> chain())
        #expect(sink.bytes == content)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-", nil])
        #expect(sink.restarts == 1)
    }

    @Test(
        "R11: a URL that was signed anew is the same resource, and any other difference makes it another one",
        arguments: [
            ("o?X-Amz-Date=1&X-Amz-Signature=a", "o?X-Amz-Date=2&X-Amz-Signature=b", true),
            ("o?Expires=1&Signature=a&Key-Pair-Id=k", "o?Expires=2&Signature=b&Key-Pair-Id=l", true),
            ("o?id=7&se=1&sig=a", "o?id=7&se=2&sig=b", true),
            ("o?id=7&se=1&sig=a", "o?id=8&se=2&sig=b", false),
            ("o?sig=a", "p?sig=b", false),
            ("o?se=1", "o?se=2", false),
            ("o?sig=a", "o", false),
            ("o?page=1", "o?page=2", false),
        ]
    )
    func signedAnew(first: String, second: String, goesOn: Bool) async throws {
        for isTag in [true, false] {
            var request = try HTTPRequest("http://a.example/\(second)")
            let sink = CollectingSink()
            request.download = Download(
                to: sink,
                from: Download.Checkpoint(
                    offset: 400,
                    total: 1000,
                    validator: isTag ? "\"v1\"" : "Sat, 09 Oct 2004 08:30:00 GMT",
                    requestedURL: "http://a.example/\(first)",
                    answeringURL: "http://a.example/\(first)",
                    fields: HTTPHeaders()
                )
            )
            let continues = goesOn && isTag
            mock.then(
                continues
                    ? part(400..<1000, status: 206, headers: rest(400, 999), cut: false)
                    : part(0..<1000, status: 200, headers: whole, cut: false)
            )
            #expect(try await chain().load(request).get().status == (continues ? .partialContent : .ok))
            #expect(mock.requests.last?.headers["Range"] == (continues ? "bytes=400-" : nil))
        }
    }

    @Test("R28: of the body of an error 64 KiB are kept, and its status decides, however long it is")
    func longOtherBody() async throws {
        let endless = MockLoader.Reply { request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { Array(repeating: 7, count: 10_000) }
            return .success(HTTPResponse(request: request, status: 503, body: .oneShot(chunks)))
        }
        mock.then(endless).then(part(0..<1000, status: 200, headers: whole, cut: false))
        let sink = CollectingSink()
        let result = try await load(sink, chain())
        #expect(result.attempts.map(\.status) == [503, 200])
        #expect(sink.bytes == content)
        mock.otherwise(endless)
        #expect(try await load(CollectingSink(), chain()).get().body.bytesInMemory?.count == 65_536)
    }

    private func answer(_ status: HTTPStatus, chunks count: Int, cut: Bool = false) -> MockLoader.Reply {
        MockLoader.Reply { request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                for number in 0..<count { stream.yield(Array(repeating: UInt8(number), count: 10_000)) }
                stream.finish(throwing: cut ? HTTPError(.networkConnectionLost, request: request, bytesSent: 9) : nil)
            }
            return .success(HTTPResponse(request: request, status: status, body: .oneShot(chunks)))
        }
    }

    @Test("R10: another answer that is no error has its whole body, or is tried again", arguments: [300, 302, 399])
    func longOtherAnswer(status: HTTPStatus) async throws {
        mock.then(answer(status, chunks: 20, cut: true)).then(answer(status, chunks: 20))
        let sink = CollectingSink()
        let response = try await load(sink, chain()).get()
        #expect(response.attempts.count == 2)
        #expect(response.body.bytesInMemory == (0..<20).flatMap { [UInt8](repeating: $0, count: 10_000) })
        #expect(sink.bytes.isEmpty)
    }

    @Test("The limit of a body counts for another answer that is no error as well", arguments: [199_999, 200_000, -1])
    func limitOfOtherAnswer(limit: Int) async throws {
        mock.then(answer(300, chunks: 20))
        var request = try HTTPRequest("http://a.example/file")
        request.maximumBodySize = limit
        request.download = Download(to: CollectingSink())
        switch await chain().load(request) {
        case .success(let response): #expect(limit == 200_000 && response.body.length == 200_000)
        case .failure(let error): #expect(limit != 200_000 && error.code == .dataLengthExceedsMaximum)
        }
    }

    @Test("A response to a download without a size limit has the limit of collected bodies")
    func standardLimitOfOtherAnswer() async throws {
        mock.then(
            MockLoader.Reply { request in
                let chunks = AsyncThrowingStream<[UInt8], any Error> { Array(repeating: 7, count: 1 << 20) }
                return .success(HTTPResponse(request: request, status: 300, body: .oneShot(chunks)))
            }
        )
        let result = try await load(CollectingSink(), chain())
        #expect(result.attempts.map(\.reason) == [.finalFailure])
        #expect(result.errorCode == .dataLengthExceedsMaximum)
    }

    @Test("A sink that has passed bytes on ends the call instead of repeating them")
    func cannotStartOver() async throws {
        mock.then(part(0..<400, status: 200, headers: ["Content-Length": "1000"], cut: true))
        let sink = CollectingSink(mayStartOver: false)
        guard case .failure(let error) = try await load(sink, chain()) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .callerFailed)
        #expect(error.underlyingError is Download.CannotStartOver)
        #expect(sink.bytes == Array(content.prefix(400)))
        #expect(mock.requests.count == 1)
    }

    @Test("R33: a sink that has passed bytes on goes on where the redirect names another signature")
    func goesOnBehindARedirect() async throws {
        mock.then(.status(302, headers: ["Location": "/o?X-Amz-Signature=a"]))
            .then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(.status(403))
            .then(.status(302, headers: ["Location": "/o?X-Amz-Signature=b"]))
            .then(part(400..<1000, status: 206, headers: rest(400, 999), cut: false))
        let sink = CollectingSink(mayStartOver: false)
        let result = try await load(sink, Redirect(clocks: clock.retryClocks()) --> chain())
        #expect(sink.bytes == content, "\(result)")
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, nil, "bytes=400-", nil, "bytes=400-"])
    }

    @Test("An answer of another status leaves the download alone, and carries its body")
    func otherStatus() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(.status(503))
            .then(part(400..<1000, status: 206, headers: rest(400, 999), cut: false))
        let sink = CollectingSink()
        _ = try await load(sink, chain())
        #expect(sink.bytes == content)
        mock.then(.status(404, body: .text("not here")))
        let result = try await load(CollectingSink(), chain())
        #expect(try result.get().body.bytesInMemory == Array("not here".utf8))
    }

    @Test("The limit of a body counts over all its parts")
    func limit() async throws {
        mock.then(part(0..<400, status: 200, headers: whole, cut: true))
            .then(part(400..<1000, status: 206, headers: rest(400, 999), cut: false))
        var request = try HTTPRequest("http://a.example/file")
        request.maximumBodySize = 999
        let sink = CollectingSink()
        request.download = Download(to: sink)
        guard case .failure(let error) = await chain().load(request) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .dataLengthExceedsMaximum && sink.bytes.count == 400)
    }

    @Test("R11: of 2,000 downloads cut at random places each ends with the source's bytes", .computing)
    func properties() async throws {
        let seed = UInt64(0x5EED)
        let random = RandomSource(seed: seed)
        let content = content
        for _ in 0..<2_000 {
            let mock = MockLoader()
            mock.otherwise(
                MockLoader.Reply { request in
                    let from = request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                    let draw = random.next()
                    let ignoresRange = draw % 7 == 0
                    let start = ignoresRange ? 0 : from
                    let end = min(1000, start + Int(draw >> 8) % 700)
                    let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                        if end > start { stream.yield(Array(content[start..<end])) }
                        let cut = HTTPError(.networkConnectionLost, request: request, bytesSent: 9)
                        stream.finish(throwing: end < 1000 ? cut : nil)
                    }
                    let isRest = from > 0 && !ignoresRange
                    let headers: HTTPHeaders =
                        isRest
                        ? rest(start, 999) : ["ETag": "\"v1\"", "Content-Length": "1000"]
                    return .success(
                        HTTPResponse(
                            request: request,
                            status: isRest ? 206 : 200,
                            headers: headers,
                            body: .oneShot(chunks)
                        )
                    )
                }
            )
            let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 200))
            let loader = Retry(policy, budgets: nil, clocks: clock.retryClocks()) --> Resume() --> mock
            var request = try HTTPRequest("http://a.example/file")
            let sink = CollectingSink()
            request.download = Download(to: sink)
            let response = try await loader.response(for: request)
            #expect(sink.bytes == content, "seed \(seed)")
            #expect(response.exchange.bytesReceived == 1000, "seed \(seed)")
        }
    }

    @Test("R11: a download starts over under Alamofire's lists, too, and under any that let it go on")
    func startsOverByLists() async throws {
        let cutOnly = RetryPolicy(retryableHTTPStatusCodes: [], retryableErrorCodes: [.networkConnectionLost])
        for policy in [RetryPolicy(), cutOnly] {
            mock.then(part(0..<400, status: 200, headers: whole, cut: true)).then(.status(416))
                .then(part(0..<1000, status: 200, headers: whole, cut: false))
            let sink = CollectingSink()
            let retry = Retry(policy, budgets: nil, clocks: clock.retryClocks())
            let result = try await load(sink, retry --> Resume(clocks: clock.retryClocks()) --> mock)
            #expect(sink.bytes == content)
            #expect(result.attempts.map(\.reason) == [.resumed, .transientFailure, .succeeded])
        }
    }

    @Test("R11: to start over uses up an attempt, and is no leave to send a POST again")
    func startsOverWithinBounds() async throws {
        let retry = Retry(RetryPolicy(), budgets: nil, clocks: clock.retryClocks())
        let loader = retry --> Resume(clocks: clock.retryClocks()) --> mock
        mock.then(part(0..<400, status: 200, headers: whole, cut: true)).then(.status(416))
            .then(part(0..<400, status: 200, headers: whole, cut: true))
        let result = try await load(CollectingSink(), loader)
        #expect(result.attempts.map(\.reason) == [.resumed, .transientFailure, .attemptsUsedUp])
        mock.then(part(400..<1000, status: 206, headers: rest(400, 999), cut: false))
        var request = try HTTPRequest("http://a.example/file", method: .post, body: .text("which"))
        request.download = Download(to: CollectingSink())
        #expect(await loader.load(request).attempts.map(\.reason) == [.notReplayable])
    }
}

private final class CollectingSink: Download.Sink {
    private let state = Locked((bytes: [UInt8](), restarts: 0))
    private let mayStartOver: Bool

    init(mayStartOver: Bool = true) { self.mayStartOver = mayStartOver }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var restarts: Int { state.withLock { $0.restarts } }

    func write(_ bytes: [UInt8]) async throws { state.withLock { $0.bytes += bytes } }

    var canStartOver: Bool { mayStartOver }

    func startOver() async throws {
        guard mayStartOver else { throw Download.CannotStartOver() }
        state.withLock { $0 = ([], $0.restarts + 1) }
    }
}
