// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@Suite("poll")
struct PollTests {
    let clock = TestClock(.autoAdvancing)

    @Test("it returns the first value that meets the condition, after the schedule's delays")
    func succeeds() async throws {
        var count = 0
        let value = try await poll(.constant(delay: .seconds(2), maxAttempts: 5), clock: clock) {
            count += 1
            return count
        } until: {
            $0 == 3
        }
        #expect(value == 3)
        #expect(clock.sleeps == [.seconds(2), .seconds(2)])
    }

    @Test("the end of the schedule and of the time is an error that says so, and that no outer loop retries")
    func ends() async throws {
        var count = 0
        let used = await #expect(throws: Backoff.PollingEnded.self) {
            try await withRetry(.immediately(maxAttempts: 3)) {
                try await poll(.constant(delay: .seconds(2), maxAttempts: 4), clock: clock) {
                    count += 1
                } until: { _ in
                    false
                }
            }
        }
        #expect(count == 4)
        #expect(used?.attempts == 4)
        #expect(used?.reason == .attemptsUsedUp)
        let schedule = Backoff.constant(delay: .seconds(2), maxAttempts: nil)
        let late = await #expect(throws: Backoff.PollingEnded.self) {
            try await poll(schedule, timeout: .seconds(5), clock: clock) {
                1
            } until: { _ in
                false
            }
        }
        #expect(late?.attempts == 3)
        #expect(late?.reason == .deadlineExceeded)
    }

    @Test("an error of either closure ends it at once")
    func fails() async throws {
        struct Broken: Error {}
        let schedule = Backoff.immediately(maxAttempts: 3)
        var count = 0
        await #expect(throws: Broken.self) {
            try await poll(schedule) {
                count += 1
                throw Broken()
            } until: { (_: Int) in
                true
            }
        }
        await #expect(throws: Broken.self) {
            try await poll(schedule) {
                count += 1
            } until: { _ in
                throw Broken()
            }
        }
        #expect(count == 2)
    }

    @Test("R9: cancellation ends the wait with CancellationError")
    func cancellation() async throws {
        let clock = TestClock()
        let task = Task {
            try await poll(.constant(delay: .seconds(2)), clock: clock) {
                1
            } until: { _ in
                false
            }
        }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}
