// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainHTTP
import RefrainTesting
import Testing

@Suite("RateLimiter")
struct RateLimiterTests {
    private let clock = TestClock(.autoAdvancing)

    @Test("R18, R24: a request that is held back for too long is not tried again, by no loop round it")
    func comesBackLater() async throws {
        let mock = MockLoader()
        mock.otherwise(.status(200, headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "3600"]))
        let stage = Retry(RetryPolicy.recommended, budgets: nil, clocks: clock.retryClocks())
        let loader = stage --> RateLimiter(clocks: clock.retryClocks()) --> mock
        var request = try HTTPRequest("http://api.example/")
        request.pacing = .on
        _ = try await loader.response(for: request)
        guard case .failure(let error) = await loader.load(request) else {
            Issue.record("a success")
            return
        }
        #expect(error.code == .retryAfterTooLong)
        #expect(error.retryAfterDate == clock.retryClocks().wallNow.advanced(by: .seconds(3600)))
        #expect(error.attempts.map(\.reason) == [.retryAfterTooLong])
        #expect(error.retriesAreExhausted)
        let calls = Locked(0)
        await #expect(throws: HTTPError.self) {
            try await withRetry(.immediately(maxAttempts: 5)) { [request] in
                calls.withLock { $0 += 1 }
                return try await loader.response(for: request)
            }
        }
        #expect(calls.withLock { $0 } == 1)
        #expect(mock.requests.count == 1)
    }

    @Test("R20: a request that was held back goes on with what is left of its deadline")
    func deadline() async throws {
        let mock = MockLoader()
        mock.otherwise(.status(200, headers: ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "5"]))
        let loader = RateLimiter(clocks: clock.retryClocks()) --> mock
        var request = try HTTPRequest("http://api.example/")
        request.pacing = .on
        request.timeout = .seconds(12)
        _ = try await loader.response(for: request)
        _ = try await loader.response(for: request)
        #expect(mock.requests.map(\.attemptTimeout) == [.seconds(12), .seconds(7)])
    }

    @Test("R19: pacing holds requests back when nothing is left, until the reset and in any number")
    func holdsBack() async throws {
        let mock = MockLoader()
        mock.then(.status(200, headers: ["X-RateLimit-Remaining": "1", "X-RateLimit-Reset": "10"]))
        mock.otherwise(.status(200))
        let loader = RateLimiter(clocks: clock.retryClocks()) --> mock
        var request = try HTTPRequest("http://api.example/")
        request.pacing = .on
        let began = clock.now
        _ = try await loader.response(for: request)
        // One is left, and a request that is not paced does not wait.
        _ = try await loader.response(for: request)
        request.pacing = .off
        _ = try await loader.response(for: request)
        #expect(clock.now == began)
        request.pacing = .on
        try await clock.sleep(for: .seconds(4))
        _ = try await loader.response(for: request)
        #expect(began.duration(to: clock.now) == .seconds(10))
        // What is past is known no more.
        _ = try await loader.response(for: request)
        _ = try await loader.response(for: request)
        #expect(began.duration(to: clock.now) == .seconds(10))
        #expect(mock.requests.count == 6)
    }
}
