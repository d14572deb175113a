// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("Bodies of answers that may not be the last one")
struct DeferredBodiesTests {
    /// Answers each request with an error whose body is still to be read.
    private final class Answers: HTTPLoader {
        let bodies = Locked<[HTTPBody]>([])

        func load(_ request: HTTPRequest) async -> HTTPResult {
            let body = HTTPBody.oneShot(
                AsyncStream { stream in
                    stream.yield([1, 2, 3])
                    stream.finish()
                }
            )
            bodies.withLock { $0.append(body) }
            var response = HTTPResponse(request: request, status: 503)
            response.body = body
            return .success(response)
        }
    }

    @Test("R28: of several answers a policy has only the last one read; other strategies may look at each")
    func reads() async throws {
        let policy = RetryPolicy.recommended.with(schedule: .immediately(maxAttempts: 3))
        #expect(try await bodies(policy) == [.once, .once, .onceAndRead])
        let other: any RetryStrategy = .delay { _, attempt in attempt.number < 3 ? .zero : nil }
        #expect(try await bodies(other) == [.onceAndRead, .onceAndRead, .onceAndRead])
    }

    /// What became of the bodies of three answers.
    private func bodies(_ strategy: any RetryStrategy) async throws -> [HTTPBody.Replayability] {
        let answers = Answers()
        let chain = Retry(strategy, budgets: nil, clocks: TestClock(.autoAdvancing).retryClocks()) --> answers
        let response = try await chain.response(for: HTTPRequest("http://a.example/"))
        #expect(response.attempts.count == 3)
        #expect(response.data?.count == 3)
        return answers.bodies.withLock { $0 }.map(\.replayability)
    }

    @Test("the bytes of a body that was read after its head are in the report of the exchange")
    func reportsSize() async throws {
        let chain = Retry(.never, budgets: nil) --> Answers()
        #expect(try await chain.response(for: HTTPRequest("http://a.example/")).exchange.bytesReceived == 3)
        // What was decoded had another size on its way.
        var response = HTTPResponse(request: try HTTPRequest("http://a.example/"), status: 200)
        response.headers = ["Content-Encoding": "gzip", "Content-Length": "2"]
        #expect(response.with(.text("abc")).exchange.bytesReceived == 2)
        response.headers["Content-Length"] = nil
        #expect(response.with(.text("abc")).exchange.bytesReceived == 0)
    }

    @Test("R28: for a strategy that may look at its body, too, a refusal whose body is cut short keeps its time")
    func brokenBody() async throws {
        let (mock, clock) = (MockLoader(), TestClock(.autoAdvancing))
        mock.then { request in
            let chunks = AsyncThrowingStream<[UInt8], any Error> { chunks in
                chunks.yield([1])
                chunks.finish(throwing: HTTPError(.networkConnectionLost, request: request))
            }
            let headers: HTTPHeaders = ["Retry-After": "7"]
            return .success(HTTPResponse(request: request, status: 503, headers: headers, body: .oneShot(chunks)))
        }
        mock.otherwise(.status(200))
        let strategy: any RetryStrategy = .delay { _, attempt in attempt.number < 3 ? .zero : nil }
        let chain = Retry(strategy, budgets: nil, clocks: clock.retryClocks()) --> mock
        let response = try await chain.response(for: HTTPRequest("http://a.example/", method: .post))
        #expect(response.attempts.map(\.status) == [503, 200])
        #expect(clock.sleeps.first ?? .zero >= .seconds(7))
    }
}
