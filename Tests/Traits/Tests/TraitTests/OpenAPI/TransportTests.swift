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

/// Retries that follow each other at once.
let prompt = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))

extension URL {
    static func api(_ base: String = "https://api.example.com/v1/") throws -> URL { try #require(URL(string: base)) }
}

extension HTTPBody {
    /// A body that can be iterated once.
    static func single(_ text: String) -> HTTPBody {
        let chunks = AsyncStream<ArraySlice<UInt8>> { continuation in
            continuation.yield(Array(text.utf8)[...])
            continuation.finish()
        }
        return HTTPBody(chunks, length: .known(Int64(text.utf8.count)), iterationBehavior: .single)
    }
}

@Suite("OpenAPI: the transport")
struct TransportTests {
    let mock = MockLoader()

    private func transport(_ configure: @escaping RefrainTransport.Configuration = { _, _ in }) -> RefrainTransport {
        RefrainTransport(Retry(prompt, budgets: nil) --> mock, configure: configure)
    }

    private func request(_ method: HTTPRequest.Method = .get, _ path: String = "/users?x=1") -> HTTPRequest {
        HTTPRequest(
            method: method,
            scheme: nil,
            authority: nil,
            path: path,
            headerFields: [.accept: "application/json"]
        )
    }

    @Test("the path is appended to the base URL, and a transient answer is retried")
    func retries() async throws {
        mock.then(.status(503)).then(.status(200, headers: ["X": "y"], body: .text("hello")))
        let (response, body) = try await transport().send(
            request(),
            body: nil,
            baseURL: .api(),
            operationID: "listUsers"
        )
        #expect(
            mock.requests.map(\.url.absoluteString)
                == Array(repeating: "https://api.example.com/v1/users?x=1", count: 2)
        )
        #expect(mock.requests.first?.headers["Accept"] == "application/json")
        #expect(response.status == .ok)
        #expect(response.headerFields[try #require(HTTPField.Name("X"))] == "y")
        #expect(try await String(collecting: #require(body), upTo: 100) == "hello")
    }

    @Test("any status is a response; only those without content have no body")
    func statuses() async throws {
        mock.then(.status(404)).then(.status(204)).then(.status(200))
        let transport = transport()
        for (status, hasBody) in [(404, true), (204, false), (200, true)] {
            let (response, body) = try await transport.send(
                request(),
                body: nil,
                baseURL: .api(),
                operationID: "x"
            )
            #expect(response.status.code == status)
            #expect((body != nil) == hasBody)
        }
    }

    @Test("R4: a body that can be iterated again is sent again, whole, with its length")
    func replays() async throws {
        mock.then(.status(503)).then(.status(200))
        let body = HTTPBody(Array("hello".utf8))
        _ = try await transport().send(request(.put), body: body, baseURL: .api(), operationID: "x")
        #expect(mock.requests.map(\.body.length) == [5, 5])
        #expect(try await mock.requests.last?.body.collect() == Array("hello".utf8))
    }

    @Test("R4: a body that can be iterated once is sent once")
    func oneShot() async throws {
        mock.then(.status(503)).then(.status(200))
        let (response, _) = try await transport().send(
            request(.put),
            body: .single("hello"),
            baseURL: .api(),
            operationID: "x"
        )
        #expect(response.status.code == 503)
        #expect(mock.requests.count == 1)
        #expect(mock.requests.first?.body.length == 5)
    }

    @Test("the request can be configured by its operation")
    func configured() async throws {
        mock.then(.failure(.networkConnectionLost)).then(.status(201))
        let transport = transport { request, operation in
            if operation == "order" { request.idempotencyKey = .generated }
        }
        _ = try await transport.send(request(.post), body: nil, baseURL: .api(), operationID: "order")
        let keys = Set(mock.requests.map { $0.headers["Idempotency-Key"] })
        #expect(mock.requests.count == 2)
        #expect(keys.count == 1 && !keys.contains(nil))
    }

    @Test("a failure is the HTTPError with its record, and an outer loop does not retry it")
    func failure() async throws {
        mock.otherwise(.failure(.timedOut))
        let transport = transport()
        let error = await #expect(throws: HTTPError.self) {
            try await withRetry(.immediately(maxAttempts: 5)) {
                try await transport.send(request(), body: nil, baseURL: .api(), operationID: "x")
            }
        }
        #expect(error?.attempts.count == 3)
        #expect(mock.requests.count == 3)
    }

    @Test("R9: cancellation throws CancellationError", arguments: [true, false])
    func cancellation(usesSession: Bool) async throws {
        let gate = MockLoader.Gate()
        mock.otherwise(.held(by: gate, .status(200)))
        let session = Session(loader: mock)
        let transport = usesSession ? RefrainTransport(session) : RefrainTransport(mock)
        let task = Task { try await transport.send(request(), body: nil, baseURL: .api(), operationID: "x") }
        await gate.arrivals(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("a session is a transport, too")
    func session() async throws {
        mock.then(.status(200, body: .text("hello")))
        let transport = RefrainTransport(Session(loader: mock))
        let (response, body) = try await transport.send(request(), body: nil, baseURL: .api(), operationID: "x")
        #expect(response.status == .ok)
        #expect(try await String(collecting: #require(body), upTo: 100) == "hello")
    }

    @Test("R10: over sockets a response that is cut short is retried, and one that streams throws at the cut")
    func cutShort() async throws {
        let server = try FaultServer()
        defer { server.stop() }
        let request = request(.get, "/bytes/20000?cut=100&times=1")
        let base = try URL.api(server.baseURL)
        let collecting = RefrainTransport(Retry(prompt, budgets: nil) --> CurlLoader())
        let (_, body) = try await collecting.send(request, body: nil, baseURL: base, operationID: "x")
        #expect(try await [UInt8](collecting: #require(body), upTo: 1 << 20).count == 20_000)
        #expect(server.log.count == 2)
        let streaming = RefrainTransport(Retry(prompt, budgets: nil) --> CurlLoader(), streamsResponses: true)
        let cut = self.request(.get, "/bytes/20000?cut=100")
        let (_, stream) = try await streaming.send(cut, body: nil, baseURL: base, operationID: "x")
        await #expect(throws: HTTPError.self) { try await [UInt8](collecting: #require(stream), upTo: 1 << 20) }
    }
}
#endif
