// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("Reset of a retry stage without a guard")
struct RetryResetTests {
    @Test(
        "R9: a request whose attempt is under way while the stage is reset is not tried again, with a wait or without",
        arguments: [Duration.zero, .seconds(60)]
    )
    func betweenWaits(delay: Duration) async throws {
        let hold = MockLoader.Gate()
        let clock = TestClock()
        let mock = MockLoader().then(.held(by: hold, .status(503))).otherwise(.status(200))
        let retry = Retry(Backoff.constant(delay: delay), budgets: nil, clocks: clock.retryClocks())
        let loader = retry --> mock
        let task = loader.load(sampleRequest()) { _ in }
        await hold.arrivals(atLeast: 1)
        // Only the stage: the attempt itself goes on, and fails after the reset.
        await retry.reset()
        await hold.release()
        let result = await task.result
        #expect(result.errorCode == .cancelled)
        #expect(result.attempts.map(\.status) == [503])
        #expect(result.attempts.last?.reason == .cancelled)
        #expect(mock.requests.count == 1)
        #expect(clock.sleepers == 0)
        #expect(await loader.load(sampleRequest()).status == 200)
    }

    @Test("R9: a cancelled token refuses a sleep on any clock, and one that is not cancelled does not")
    func cancelledToken() async throws {
        let source = CancellationTokenSource()
        let token = source.current
        let timer = AnyClock(TimerClock())
        try await timer.cancelled(by: token).sleep(for: .microseconds(1))
        source.cancel()
        for clock in [timer, AnyClock(ContinuousClock()), AnyClock(TestClock())] {
            await #expect(throws: CancellationError.self) {
                try await clock.cancelled(by: token).sleep(for: .seconds(3600))
            }
        }
        try await timer.cancelled(by: source.current).sleep(for: .microseconds(1))
    }
}
