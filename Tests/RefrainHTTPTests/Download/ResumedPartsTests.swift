// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("The parts of a download: where they come from, where they go, and what is known of the whole")
struct ResumedPartsTests {
    private let clock = TestClock(.autoAdvancing)
    private let mock = MockLoader()
    private let content = (0..<1000).map { UInt8(truncatingIfNeeded: $0 &* 31 &+ $0 / 7) }

    private var resume: Resume { Resume(clocks: clock.retryClocks()) }
    private var retry: Retry { Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks()) }

    /// A response that delivers a part of the content in pieces of 100 bytes, and then fails.
    private func part(_ range: Range<Int>, _ status: HTTPStatus, _ headers: HTTPHeaders, cut: Bool = false)
        -> MockLoader.Reply
    {
        MockLoader.Reply { [content] request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { stream in
                for start in stride(from: range.lowerBound, to: range.upperBound, by: 100) {
                    stream.yield(Array(content[start..<min(start + 100, range.upperBound)]))
                }
                stream.finish(throwing: cut ? HTTPError(.networkConnectionLost, request: request, bytesSent: 9) : nil)
            }
            return .success(HTTPResponse(request: request, status: status, headers: headers, body: .oneShot(chunks)))
        }
    }

    private let whole: HTTPHeaders = ["ETag": "\"v1\"", "Content-Length": "1000", "Content-Type": "application/pdf"]
    private let rest: HTTPHeaders = ["ETag": "\"v1\"", "Content-Range": "bytes 400-999/1000"]

    /// Answers as a server does that knows ranges.
    private func serveRanges() {
        mock.otherwise(
            MockLoader.Reply { [content, whole] request in
                let start = request.headers["Range"].flatMap { Int($0.dropFirst(6).dropLast()) } ?? 0
                var headers = whole
                if start > 0 { headers["Content-Range"] = "bytes \(start)-999/1000" }
                headers["Content-Length"] = "\(1000 - start)"
                let chunks = AsyncStream<[UInt8]> { stream in
                    for first in stride(from: start, to: 1000, by: 100) {
                        stream.yield(Array(content[first..<min(first + 100, 1000)]))
                    }
                    stream.finish()
                }
                let status: HTTPStatus = start > 0 ? 206 : 200
                return .success(
                    HTTPResponse(request: request, status: status, headers: headers, body: .oneShot(chunks))
                )
            }
        )
    }

    // MARK: What is not appended

    @Test("R11: a rest with a content coding is not appended to a plain beginning, also under the same entity tag")
    func codedRest() async throws {
        var coded = rest
        coded["Content-Encoding"] = "gzip"
        mock.then(part(0..<400, 200, whole, cut: true)).then(part(400..<1000, 206, coded))
            .then(part(0..<1000, 200, whole))
        let sink = FlakySink()
        var request = try HTTPRequest("http://a.example/file")
        request.download = Download(to: sink)
        let response = try await (retry --> resume --> mock).response(for: request)
        #expect(sink.bytes == content)
        #expect(response.exchange.bytesReceived == 1000)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-", nil])
    }

    @Test("R11: bytes beyond the Content-Range never reach the sink", arguments: [1, 100, 600])
    func surplus(size: Int) async throws {
        let surplus = MockLoader.Reply { [content, rest] request in
            let chunks = AsyncStream<[UInt8]> { stream in
                stream.yield(Array(content[400..<900]))
                stream.yield(Array(content[900...]) + [UInt8](repeating: 0xEE, count: size))
                stream.finish()
            }
            return .success(HTTPResponse(request: request, status: 206, headers: rest, body: .oneShot(chunks)))
        }
        mock.then(part(0..<400, 200, whole, cut: true)).then(surplus).then(part(0..<1000, 200, whole))
        let sink = FlakySink()
        var request = try HTTPRequest("http://a.example/file")
        request.download = Download(to: sink)
        _ = try await (retry --> resume --> mock).response(for: request)
        #expect(sink.bytes == content)
        #expect(sink.largest <= 1000)
    }

    // MARK: Where they go

    @Test(
        "R11: a sink that fails in mid-write is emptied before the next attempt, and no byte is doubled",
        arguments: [1, 2, 7]
    )
    func failingSink(write: Int) async throws {
        serveRanges()
        let sink = FlakySink(failingWrite: write)
        var request = try HTTPRequest("http://a.example/file")
        request.download = Download(to: sink)
        let loader = Retry(AtOnce(), budgets: nil, clocks: clock.retryClocks()) --> resume --> mock
        let response = try await loader.response(for: request)
        #expect(sink.bytes == content)
        #expect(response.exchange.bytesReceived == 1000)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, nil])
    }

    @Test("R11: a sink that fails while it is emptied is emptied again, and no rest is asked for")
    func failingRestart() async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(part(0..<1000, 200, whole))
        serveRanges()
        let sink = FlakySink(failingRestart: 1)
        var request = try HTTPRequest("http://a.example/file")
        request.download = Download(to: sink)
        let loader = Retry(AtOnce(), budgets: nil, clocks: clock.retryClocks()) --> resume --> mock
        _ = try await loader.response(for: request)
        #expect(sink.bytes == content)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-", nil])
    }

    // MARK: Where they come from

    private func load(_ request: HTTPRequest, _ loader: some HTTPLoader) async throws -> FlakySink {
        mock.then(part(0..<400, 200, whole, cut: true)).then(part(400..<1000, 206, rest))
        let sink = FlakySink()
        var request = request
        request.download = Download(to: sink)
        _ = try await loader.response(for: request)
        return sink
    }

    @Test("R11: a download goes on where a stage further in completes the URL")
    func completedURL() async throws {
        let environment = ApplyEnvironment(ServerEnvironment(host: "api.example"))
        let sink = try await load(try HTTPRequest(path: "file"), retry --> resume --> environment --> mock)
        #expect(sink.bytes == content)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-"])
    }

    @Test("R11: a download goes on where a stage further in adds to the URL")
    func changedURL() async throws {
        let version = ModifyRequest { request in
            var request = request
            request.url.append(queryItems: [URLQueryItem(name: "v", value: "1")])
            return request
        }
        let sink = try await load(HTTPRequest("http://a.example/file"), retry --> resume --> version --> mock)
        #expect(sink.bytes == content)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-"])
    }

    @Test("R11: a rest that a stage further in has fetched from elsewhere does not belong to the beginning")
    func elsewhere() async throws {
        let number = Locked(0)
        let mirrors = ModifyRequest { request in
            var request = request
            let mirror = number.withLock { number in
                number += 1
                return min(number, 2)
            }
            request.url = URL(string: "http://mirror\(mirror).example/file") ?? request.url
            return request
        }
        mock.then(part(0..<400, 200, whole, cut: true)).then(part(400..<1000, 206, rest))
            .then(part(0..<1000, 200, whole))
        let sink = FlakySink()
        var request = try HTTPRequest("http://a.example/file")
        request.download = Download(to: sink)
        _ = try await (retry --> resume --> mirrors --> mock).response(for: request)
        #expect(sink.bytes == content)
        #expect(sink.restarts == 1)
        #expect(mock.requests.map { $0.headers["Range"] } == [nil, "bytes=400-", nil])
    }

    // MARK: What is known of the whole

    @Test("R11: what the beginning said of the content holds for the whole, unless the rest says otherwise")
    func head() async throws {
        var other = rest
        other["Content-Type"] = "text/plain"
        for (headers, type) in [(rest, "application/pdf"), (other, "text/plain")] {
            mock.then(part(0..<400, 200, whole, cut: true)).then(part(400..<1000, 206, headers))
            var request = try HTTPRequest("http://a.example/file")
            request.download = Download(to: FlakySink())
            let response = try await (retry --> resume --> mock).response(for: request)
            #expect(response.status == 206)
            #expect(response.headers[values: "Content-Type"] == [type])
            #expect(response.headers[values: "ETag"] == ["\"v1\""])
            // These are the part's own.
            #expect(response.headers["Content-Length"] == nil)
        }
    }

    @Test("R11: a download that starts over forgets what the beginning said of the content")
    func headOfAnother() async throws {
        mock.then(part(0..<400, 200, whole, cut: true)).then(part(0..<400, 200, ["ETag": "\"v2\""], cut: true))
            .then(part(400..<1000, 206, ["ETag": "\"v2\"", "Content-Range": "bytes 400-999/1000"]))
        var request = try HTTPRequest("http://a.example/file")
        let sink = FlakySink()
        request.download = Download(to: sink)
        let response = try await (retry --> resume --> mock).response(for: request)
        #expect(sink.bytes == content)
        #expect(response.headers["Content-Type"] == nil)
    }
}

/// Asks for another attempt at once, whatever has happened.
private struct AtOnce: HTTPRetryStrategy {
    func retryDelay(for result: HTTPResult) -> Duration? {
        if case .failure = result { return .zero }
        return nil
    }
}

/// A sink that fails once: in a write, of which it keeps a part, or when it has been emptied.
private final class FlakySink: Download.Sink {
    private struct State {
        var bytes: [UInt8] = []
        var writes = 0
        var restarts = 0
        var largest = 0
    }

    private let state = Locked(State())
    private let failingWrite: Int?
    private let failingRestart: Int?

    init(failingWrite: Int? = nil, failingRestart: Int? = nil) {
        self.failingWrite = failingWrite
        self.failingRestart = failingRestart
    }

    var bytes: [UInt8] { state.withLock { $0.bytes } }
    var restarts: Int { state.withLock { $0.restarts } }
    /// The largest number of bytes that it ever held.
    var largest: Int { state.withLock { $0.largest } }

    func write(_ bytes: [UInt8]) async throws {
        try state.withLock { state in
            state.writes += 1
            guard state.writes != failingWrite else {
                state.bytes += bytes.prefix(30)
                throw HTTPBody.FileError(path: "file", operation: .write, errno: 28)
            }
            state.bytes += bytes
            state.largest = max(state.largest, state.bytes.count)
        }
    }

    func startOver() async throws {
        try state.withLock { state in
            state.bytes = []
            state.restarts += 1
            if state.restarts == failingRestart {
                throw HTTPBody.FileError(path: "file", operation: .write, errno: 5)
            }
        }
    }
}
