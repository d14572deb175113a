// SPDX-License-Identifier: Apache-2.0
#if Metrics
import Metrics
import MetricsTestKit
import RefrainMetrics
import RefrainTesting
import Testing

@Suite("Metrics")
struct MeasureCallsTests {
    let mock = MockLoader()
    let clock = TestClock(.autoAdvancing)
    let factory = TestMetrics()

    private func total(_ name: String, _ dimensions: [(String, String)]) throws -> Int64 {
        try factory.expectCounter(name, dimensions).totalValue
    }

    @Test("calls, attempts, retries and durations are counted by the names of the Prometheus text")
    func counts() async throws {
        mock.then(.status(503)).then(.status(200)).otherwise(.failure(.timedOut))
        let policy = RetryPolicy.recommended.with(schedule: .constant(delay: .seconds(2), maxAttempts: 2))
        let retry = Retry(policy, budgets: nil, clocks: clock.retryClocks())
        let chain = MeasureCalls(factory: factory, clocks: clock.retryClocks()) --> retry --> mock
        let request = try HTTPRequest("https://api.example.com/a")
        for _ in 0..<2 { _ = await chain.load(request) }
        let host = ("host", "api.example.com")
        #expect(try total("refrain_requests_total", [("outcome", "succeeded")]) == 1)
        #expect(try total("refrain_requests_total", [("outcome", "failed")]) == 1)
        #expect(try total("refrain_attempts_total", [host, ("outcome", "503")]) == 1)
        #expect(try total("refrain_attempts_total", [host, ("outcome", "200")]) == 1)
        #expect(try total("refrain_attempts_total", [host, ("outcome", "timedOut")]) == 2)
        #expect(try total("refrain_retries_total", [host, ("reason", "transientStatus")]) == 1)
        #expect(try total("refrain_retries_total", [host, ("reason", "transientFailure")]) == 1)
        #expect(try total("refrain_given_up_total", [host, ("reason", "attemptsUsedUp")]) == 1)
        #expect(try factory.expectTimer("refrain_attempt_duration_seconds", [host]).values.count == 4)
    }

    @Test("a chain without a retry stage counts one attempt, and a session is measured as an event monitor")
    func withoutRetry() async throws {
        mock.otherwise(.status(200))
        let request = try HTTPRequest("https://api.example.com/a")
        _ = await (MeasureCalls(factory: factory) --> mock).load(request)
        let session = Session(loader: mock, eventMonitors: [MeasureCalls(factory: factory)])
        _ = await session.request(request).serializingResponse().response
        #expect(try total("refrain_attempts_total", [("host", "api.example.com"), ("outcome", "200")]) == 2)
        #expect(try total("refrain_requests_total", [("outcome", "succeeded")]) == 2)
    }

    @Test("withRetry counts each retry")
    func loop() async throws {
        struct Broken: Error {}
        await #expect(throws: Broken.self) {
            try await withRetry(
                .constant(delay: .seconds(1)).limited(maxAttempts: 3),
                clock: clock,
                onRetry: countRetries(of: "load", factory: factory)
            ) { throw Broken() }
        }
        #expect(try total("refrain_operation_retries_total", [("operation", "load"), ("error_type", "Broken")]) == 2)
    }
}
#endif
