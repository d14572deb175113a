import RefrainTesting
import Testing

@testable import RefrainHTTP

@Suite("Reset of a retry stage without a guard")
struct RetryResetTests {
    @Test(
        "R9: a request whose try is under way while the stage is reset is not tried again, with a wait or without one",
        arguments: [Duration.zero, .seconds(60)]
    )
    func betweenWaits(delay: Duration) async throws {
        let hold = MockHold()
        let clock = TestClock()
        let mock = MockLoader().then(.held(by: hold, .status(503))).otherwise(.status(200))
        let retry = Retry(try Backoff.constant(delay: delay), budgets: nil, clocks: clock.clockPair())
        let loader = retry --> mock
        let task = loader.load(sampleRequest()) { _ in }
        await hold.arrivals(atLeast: 1)
        // Only the stage: the try itself goes on, and fails after the reset.
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

    @Test("A closed group takes no sleeper on any clock, and an open one does")
    func closedGroup() async throws {
        let group = SleepGroup()
        group.cancelAll()
        #expect(!group.isClosed)
        try await TimerClock().grouped(in: group).sleep(until: .now.advanced(by: .microseconds(1)), tolerance: nil)
        group.close()
        let far = Duration.seconds(3600)
        await #expect(throws: CancellationError.self) {
            try await TimerClock().grouped(in: group).sleep(until: .now.advanced(by: far), tolerance: nil)
        }
        let erased = ErasedClock(ContinuousClock())
        await #expect(throws: CancellationError.self) {
            try await erased.grouped(in: group).sleep(until: erased.now.advanced(by: far), tolerance: nil)
        }
        let test = TestClock()
        await #expect(throws: CancellationError.self) {
            try await test.grouped(in: group).sleep(until: test.now.advanced(by: far), tolerance: nil)
        }
    }
}
