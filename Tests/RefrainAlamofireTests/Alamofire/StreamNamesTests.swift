// SPDX-License-Identifier: Apache-2.0
import Dispatch
import RefrainAlamofire
import RefrainTesting
import Synchronization
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

@Suite("Alamofire's streams, compression and redirects", .timeLimit(.minutes(10)))
struct StreamNamesTests {
    private let server: FaultServer

    private struct Number: Codable, Sendable, Equatable {
        let value: Int
    }

    private struct Refused: Error {}

    init() throws {
        server = try FaultServer()
        server.on("/number") { _ in [.respond(.init(200, body: #"{"value":1}"#))] }
        server.on("/text") { _ in [.respond(.init(200, body: "ok"))] }
        server.on("/moved") { _ in [.respond(.init(302, headers: [("Location", "/text")], body: "moved"))] }
        server.on("/unauthorized") { request in
            let isSigned = request.headers.contains { $0 == ("Authorization", "new") }
            return [.respond(.init(isSigned ? 200 : 401, body: "ok"))]
        }
    }

    @Test("a stream's chunks come as bytes, text and values, and then its end, on the queue that was named")
    func streams() async {
        let queue = DispatchQueue(label: "streams")
        let key = DispatchSpecificKey<Bool>()
        queue.setSpecific(key: key, value: true)
        let bytes = await events(AF.streamRequest(server.baseURL + "/number")) { request, handler in
            request.responseStream(on: queue) { stream in
                #expect(DispatchQueue.getSpecific(key: key) == true)
                handler(stream)
            }
        }
        #expect(bytes.compactMap(\.value).reduce(Data(), +) == Data(#"{"value":1}"#.utf8))
        #expect(bytes.last?.completion?.response?.status == .ok && bytes.last?.completion?.error == nil)
        let text = await events(AF.streamRequest(server.baseURL + "/number")) { $0.responseStreamString(stream: $1) }
        #expect(text.compactMap(\.value).joined() == #"{"value":1}"#)
        let values = await events(AF.streamRequest(server.baseURL + "/number")) {
            $0.responseStreamDecodable(of: Number.self, stream: $1)
        }
        #expect(values.compactMap(\.value) == [Number(value: 1)])
        #expect(server.count(path: "/number") == 3)
    }

    @Test("streams of a request that are asked for after its end have ended", .timeLimit(.minutes(2)))
    func lateStreams() async {
        let request = AF.request(server.baseURL + "/text")
        _ = await request.serializingString().response
        for await _ in request.downloadProgress() { Issue.record("progress after the end") }
        for await _ in request.uploadProgress() { Issue.record("progress after the end") }
        for await _ in request.urlRequests() { Issue.record("an attempt after the end") }
        for await _ in request.httpResponses() { Issue.record("a response after the end") }
        for await _ in request.cURLDescriptions() { Issue.record("an attempt after the end") }
    }

    @Test("a stream that its handler cancels at the last chunk ends as cancelled, by itself and by its token")
    func cancelledByHandler() async {
        for byToken in [false, true] {
            let stream = AF.streamRequest(server.baseURL + "/text")
            let events = await events(stream) { request, handler in
                request.responseStreamString(on: .global()) { [unowned request] event in
                    // The content is over, and the request with it, while the handler still has its last chunk.
                    let limit = ContinuousClock.now + .seconds(1)
                    // No event: the handler has to hold its thread.
                    while event.value != nil, !request.isFinished, ContinuousClock.now < limit {}
                    if event.value != nil { byToken ? event.token.cancel() : event.cancel() }
                    handler(event)
                }
            }
            #expect(events.last?.completion?.error?.isExplicitlyCancelledError == true)
        }
    }

    @Test("a handler that throws ends the request with its error, and so does a value that cannot be read, if wanted")
    func streamErrors() async {
        let thrown = await events(AF.streamRequest(server.baseURL + "/text")) { request, handler in
            request.responseStreamString { stream in
                handler(stream)
                if stream.value != nil { throw Refused() }
            }
        }
        guard
            case .responseSerializationFailed(.customSerializationFailed(let error, _), _) =
                thrown.last?.completion?.error
        else {
            Issue.record("\(String(describing: thrown.last))")
            return
        }
        #expect(error is Refused)
        let lenient = await events(AF.streamRequest(server.baseURL + "/text", automaticallyCancelOnStreamError: false))
        {
            $0.responseStreamDecodable(of: Number.self, stream: $1)
        }
        #expect(lenient.first?.error?.isResponseSerializationError == true)
        #expect(lenient.last?.completion?.error == nil)
        let strict = await events(AF.streamRequest(server.baseURL + "/text", automaticallyCancelOnStreamError: true)) {
            $0.responseStreamDecodable(of: Number.self, stream: $1)
        }
        #expect(strict.first?.error?.isResponseSerializationError == true)
        #expect(strict.last?.completion?.error?.isExplicitlyCancelledError == true)
        #expect(server.count(path: "/text") == 3)
    }

    /// Fails when the request has ended, which it does without a wait for the last chunk to be read.
    private struct LateFailure: DataStreamSerializer {
        let request: DataStreamRequest

        func serialize(_ data: Data) throws -> Int {
            // Not for ever: on one core the request may need this thread to end.
            for _ in 0..<2_000 where !request.isFinished {
                _ = DispatchSemaphore(value: 0).wait(timeout: .now() + .milliseconds(1))
            }
            throw Refused()
        }
    }

    @Test("an error that cancels the stream is its end, also where the request ended before")
    func lateStreamError() async {
        let request = AF.streamRequest(server.baseURL + "/text", automaticallyCancelOnStreamError: true)
        let seen = await events(request) { request, handler in
            request.responseStream(using: LateFailure(request: request), on: nil, stream: handler)
        }
        #expect(seen.first?.error?.isResponseSerializationError == true)
        #expect(seen.last?.completion?.error?.isExplicitlyCancelledError == true)
    }

    @Test("whether an error ends a stream is known before it starts, and where it never does")
    func knownBeforeTheStart() async throws {
        let session = Session(loader: MockLoader(), interceptor: nil)
        let call = try HTTPRequest(server.baseURL + "/text")
        for ends in [true, false] {
            let requests = [
                session.streamRequest(call, automaticallyCancelOnStreamError: ends),
                session.streamRequest(server.baseURL, automaticallyCancelOnStreamError: ends) { $0.method = .post },
            ]
            #expect(requests.allSatisfy { $0.automaticallyCancelOnStreamError == ends })
            #expect(requests.map { $0.request?.method } == [.get, .post])
            for request in requests { request.cancel() }
            #expect(requests.allSatisfy { $0.automaticallyCancelOnStreamError == ends })
        }
    }

    @Test("a stream's events are a sequence, whose reader cancels the request when it stops early")
    func streamTask() async {
        var seen: [String] = []
        for await stream in AF.streamRequest(server.baseURL + "/text").streamTask().streamingStrings() {
            if let value = stream.value { seen.append(value) }
        }
        #expect(seen == ["ok"])
        let request = AF.streamRequest(server.baseURL + "/text")
        let reader = Task {
            for await _ in request.streamTask().streamingData() { return }
        }
        await reader.value
        #expect(request.isCancelled || request.isFinished)
    }

    #if os(Linux) || os(macOS)
    @Test("a compressed body is zlib's, and its field says so; a second field is refused, replaced or kept")
    func compression() async throws {
        let body = Data(String(repeating: "abc", count: 1_000).utf8)
        let request = HTTPRequest(try (server.baseURL + "/text").asURL(), method: .post, body: .data(body))
        _ = try await AF.request(request, interceptor: .deflateCompressor).serializingData().value
        let sent = try #require(server.log.first)
        #expect(sent.headers.contains(["Content-Encoding", "deflate"]) && sent.bodyLength < 100)
        var encoded = request
        encoded.headers["Content-Encoding"] = "br"
        let refused = await AF.request(encoded, interceptor: .deflateCompressor).serializingData().response
        #expect(refused.error?.underlyingError is DeflateRequestCompressor.DuplicateHeaderError)
        #expect(server.log.count == 1)
        let kept = AF.request(encoded, interceptor: .deflateCompressor(duplicateHeaderBehavior: .skip))
        _ = try await kept.serializingData().value
        #expect(server.log.last?.bodyLength == 3_000)
    }
    #endif

    @Test("a redirector changes the request of a redirect, or stops there; the request's comes before the session's")
    func redirects() async throws {
        let redirector = Redirector(
            behavior: .modify { _, redirected, _ in
                var request = redirected
                request.url.append(queryItems: [URLQueryItem(name: "a", value: "1")])
                return request
            }
        )
        let session = Session(redirectHandler: redirector)
        _ = try await session.request(server.baseURL + "/moved").serializingString().value
        #expect(server.log.map(\.path) == ["/moved", "/text?a=1"])
        let stays = await session.request(server.baseURL + "/moved").redirect(using: .modify { _, _, _ in nil })
            .serializingString().response
        #expect(stays.response?.statusCode == 302 && server.log.count == 3)
    }

    @Test("adapters and retriers of one request come after the session's, in the order in which they were added")
    func interceptors() async throws {
        let attempts = Mutex(0)
        let session = Session(interceptor: Adapter { request, _ in request.adding("session") })
        let response = await session.request(server.baseURL + "/unauthorized").validate()
            .adapt(using: Adapter { request, _ in request.adding("first") })
            .interceptor(
                .interceptor { request, _, completion in
                    completion(.success(request.adding("second")))
                } retrier: { _, _, _, completion in
                    completion(.retry)
                }
            )
            .adapt(
                using: Adapter { request, _ in
                    let isSecond = attempts.withLock { attempts in
                        attempts += 1
                        return attempts > 1
                    }
                    var request = request
                    if isSecond { request.headers["Authorization"] = "new" }
                    return request
                }
            )
            .serializingString().response
        #expect(response.value == "ok")
        #expect(server.count(path: "/unauthorized") == 2)
        #expect(server.log.first?.headers.contains(["X-Order", "session, first, second"]) == true)
    }

    /// The events of a request, until its end.
    private func events<Success, Failure>(
        _ request: DataStreamRequest,
        _ add: (DataStreamRequest, @escaping @Sendable (DataStreamRequest.Stream<Success, Failure>) -> Void) ->
            DataStreamRequest
    ) async -> [DataStreamRequest.Stream<Success, Failure>] {
        let (stream, continuation) = AsyncStream.makeStream(of: DataStreamRequest.Stream<Success, Failure>.self)
        _ = add(request) { event in
            continuation.yield(event)
            if event.completion != nil { continuation.finish() }
        }
        return await stream.reduce(into: []) { $0.append($1) }
    }
}

extension HTTPRequest {
    fileprivate func adding(_ name: String) -> HTTPRequest {
        var copy = self
        copy.headers["X-Order"] = [headers["X-Order"], name].compactMap { $0 }.joined(separator: ", ")
        return copy
    }
}
