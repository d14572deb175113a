// SPDX-License-Identifier: Apache-2.0
#if OpenAPI
import HTTPTypes
import OpenAPIRuntime
import RefrainOpenAPI
import RefrainTesting
import Testing

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// A transport of another package, which says nothing about what it has sent.
final class ForeignTransport: ClientTransport {
    struct Broken: Error, Equatable { var number: Int }

    private let calls = Box<[HTTPRequest]>([])
    private let respond: @Sendable (_ number: Int, HTTPRequest, HTTPBody?) async throws -> (HTTPResponse, HTTPBody?)

    init(
        _ respond: @escaping @Sendable (_ number: Int, HTTPRequest, HTTPBody?) async throws -> (HTTPResponse, HTTPBody?)
    ) {
        self.respond = respond
    }

    var requests: [HTTPRequest] { calls.withLock { $0 } }

    func send(
        _ request: HTTPRequest,
        body: HTTPBody?,
        baseURL: URL,
        operationID: String
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let number = calls.withLock { calls in
            calls.append(request)
            return calls.count
        }
        return try await respond(number, request, body)
    }

    /// Sends a request through a middleware, as a client does.
    func send(
        _ method: HTTPRequest.Method = .get,
        _ body: HTTPBody? = nil,
        through middleware: RetryMiddleware
    ) async throws -> (HTTPResponse, HTTPBody?) {
        let request = HTTPRequest(method: method, scheme: nil, authority: nil, path: "/users")
        return try await middleware.intercept(request, body: body, baseURL: .api(), operationID: "x") {
            request,
            body,
            url in
            do {
                return try await self.send(request, body: body, baseURL: url, operationID: "x")
            } catch {
                throw ClientError(operationID: "x", operationInput: "", causeDescription: "", underlyingError: error)
            }
        }
    }
}

@Suite("OpenAPI: the middleware")
struct RetryMiddlewareTests {
    private func middleware(
        streams: Bool = false,
        _ configure: @escaping RefrainTransport.Configuration = { _, _ in }
    ) -> RetryMiddleware {
        RetryMiddleware(prompt, budgets: nil, streamsResponses: streams, configure: configure)
    }

    @Test("a transient answer is retried, and the records say so")
    func retries() async throws {
        let transport = ForeignTransport { number, _, _ in
            (HTTPResponse(status: number < 3 ? .serviceUnavailable : .ok), HTTPBody("answer \(number)"))
        }
        let records = Box<[AttemptRecord]>([])
        let (response, body) = try await transport.send(
            through: middleware { request, _ in
                request.attemptObserver = { record in records.withLock { $0.append(record) } }
            }
        )
        #expect(response.status == .ok)
        #expect(try await String(collecting: #require(body), upTo: 100) == "answer 3")
        #expect(records.withLock { $0.map(\.status) } == [503, 503, 200])
    }

    @Test("when the attempts are used up, the last answer stands, and the transport's own error is thrown")
    func ends() async throws {
        let answering = ForeignTransport { _, _, _ in (HTTPResponse(status: .badGateway), HTTPBody("no")) }
        let (response, body) = try await answering.send(through: middleware())
        #expect(response.status == .badGateway)
        #expect(try await String(collecting: #require(body), upTo: 100) == "no")
        let failing = ForeignTransport { number, _, _ in throw ForeignTransport.Broken(number: number) }
        let error = await #expect(throws: ClientError.self) { try await failing.send(through: middleware()) }
        #expect(error?.underlyingError as? ForeignTransport.Broken == .init(number: 3))
        #expect(failing.requests.count == 3)
    }

    @Test("R2: a POST that failed may have been processed, and is not sent again without a key")
    func post() async throws {
        let failing = ForeignTransport { number, _, _ in throw ForeignTransport.Broken(number: number) }
        await #expect(throws: ClientError.self) { try await failing.send(.post, through: middleware()) }
        #expect(failing.requests.count == 1)
        let keyed = ForeignTransport { number, _, _ in throw ForeignTransport.Broken(number: number) }
        let keying = middleware { request, _ in request.idempotencyKey = .generated }
        await #expect(throws: ClientError.self) { try await keyed.send(.post, through: keying) }
        let name = try #require(HTTPField.Name("Idempotency-Key"))
        let keys = Set(keyed.requests.map { $0.headerFields[name] })
        #expect(keyed.requests.count == 3)
        #expect(keys.count == 1 && !keys.contains(nil))
    }

    @Test("R4: a body that can be iterated once is sent again only while none of it was read")
    func oneShot() async throws {
        let reading = ForeignTransport { _, _, body in
            if let body { _ = try await [UInt8](collecting: body, upTo: 100) }
            return (HTTPResponse(status: .serviceUnavailable), nil)
        }
        _ = try await reading.send(.put, .single("hello"), through: middleware())
        #expect(reading.requests.count == 1)
        let refusing = ForeignTransport { number, _, body in
            guard number == 3 else { return (HTTPResponse(status: .serviceUnavailable), nil) }
            var text = ""
            if let body { text = try await String(collecting: body, upTo: 100) }
            return (HTTPResponse(status: .ok), HTTPBody(text))
        }
        let (response, body) = try await refusing.send(.put, .single("hello"), through: middleware())
        #expect(response.status == .ok)
        #expect(try await String(collecting: #require(body), upTo: 100) == "hello")
    }

    @Test("R10: a response that is cut short is retried, and one that streams is not")
    func cutShort() async throws {
        let transport = ForeignTransport { number, _, _ in
            let chunks = AsyncThrowingStream<ArraySlice<UInt8>, any Error> { continuation in
                continuation.yield([1, 2, 3])
                continuation.finish(throwing: number == 1 ? ForeignTransport.Broken(number: 1) : nil)
            }
            return (HTTPResponse(status: .ok), HTTPBody(chunks, length: .unknown, iterationBehavior: .single))
        }
        let (_, body) = try await transport.send(through: middleware())
        #expect(try await [UInt8](collecting: #require(body), upTo: 100) == [1, 2, 3])
        #expect(transport.requests.count == 2)
        let streaming = ForeignTransport { _, _, _ in
            let chunks = AsyncThrowingStream<ArraySlice<UInt8>, any Error> {
                $0.finish(throwing: ForeignTransport.Broken(number: 1))
            }
            return (HTTPResponse(status: .ok), HTTPBody(chunks, length: .unknown, iterationBehavior: .single))
        }
        let (_, stream) = try await streaming.send(through: middleware(streams: true))
        await #expect(throws: ForeignTransport.Broken.self) {
            try await [UInt8](collecting: #require(stream), upTo: 100)
        }
        #expect(streaming.requests.count == 1)
    }

    @Test("R18: a server that wants a longer wait than is allowed ends the call with the date to come back at")
    func tooLong() async throws {
        let transport = ForeignTransport { _, _, _ in
            (HTTPResponse(status: .serviceUnavailable, headerFields: [.retryAfter: "86400"]), nil)
        }
        let error = await #expect(throws: HTTPError.self) { try await transport.send(through: middleware()) }
        #expect(error?.code == .retryAfterTooLong)
        #expect(error?.retryAfterDate != nil)
    }

    @Test("R24: attempts of a transport of Refrain's below do not multiply")
    func nested() async throws {
        let mock = MockLoader().otherwise(.failure(.timedOut))
        let inner = RefrainTransport(Retry(prompt, budgets: nil) --> mock)
        let transport = ForeignTransport { _, request, body in
            try await inner.send(request, body: body, baseURL: .api(), operationID: "x")
        }
        await #expect(throws: ClientError.self) { try await transport.send(through: middleware()) }
        #expect(mock.requests.count == 3)
    }

    @Test(
        "R20: the timeout of the call ends an attempt of a transport that knows nothing of it",
        .timeLimit(.minutes(1))
    )
    func deadline() async throws {
        let transport = ForeignTransport { _, _, _ in
            try await Task.sleep(for: .seconds(60))
            return (HTTPResponse(status: .ok), nil)
        }
        let clock = TestClock()
        let retrying = RetryMiddleware(prompt, budgets: nil, clocks: clock.retryClocks()) { request, _ in
            request.timeout = .seconds(3)
        }
        let task = Task { try await transport.send(through: retrying) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(3))
        let error = await #expect(throws: HTTPError.self) { try await task.value }
        #expect(error?.code == .deadlineExceeded)
        #expect(transport.requests.count == 1)
    }

    @Test("R9: a cancelled call is not retried")
    func cancellation() async throws {
        let transport = ForeignTransport { _, _, _ in
            try await Task.sleep(for: .seconds(60))
            return (HTTPResponse(status: .ok), nil)
        }
        let retrying = middleware()
        let task = Task { try await transport.send(through: retrying) }
        while transport.requests.isEmpty { await Task.yield() }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(transport.requests.count == 1)
    }
}
#endif
