// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@Suite("withRetry over throwing operations")
struct ThrowingFormTests {
    let clock = TestClock(.autoAdvancing)

    @Test("R12: without arguments there are 3 attempts in all")
    func standardTries() async {
        var attempts = 0
        await #expect(throws: Transient(number: 3)) {
            try await withRetry(clock: clock) {
                attempts += 1
                throw Transient(number: attempts)
            }
        }
        #expect(clock.sleeps.count == 2)
        #expect(clock.sleeps[0] <= .milliseconds(500))
        #expect(clock.sleeps[1] <= .seconds(1))
    }

    @Test("C: withRetry: the call reads as it stands in the documentation")
    func asDocumented() async throws {
        let value = try await withRetry(
            .exponential(from: .milliseconds(100), maxAttempts: 4),
            clock: clock
        ) { (attempt: Attempt) in
            if attempt.number < 4 { throw Transient() }
            return "loaded"
        }
        #expect(value == "loaded")
        #expect(clock.sleeps == [.milliseconds(100), .milliseconds(200), .milliseconds(400)])
    }

    @Test("C: withRetry: an error that the predicate does not accept is thrown at once")
    func finalErrors() async {
        var attempts = 0
        await #expect(throws: Final.self) {
            try await withRetry(.standard, clock: clock, while: { $0 is Transient }) {
                attempts += 1
                if attempts == 2 { throw Final() }
                throw Transient()
            }
        }
        #expect(attempts == 2)
    }

    @Test("R24: an error on which an inner loop has spent its attempts is not tried again")
    func exhaustedErrors() async {
        var attempts = 0
        await #expect(throws: Spent.self) {
            try await withRetry(clock: clock) {
                attempts += 1
                throw Spent()
            }
        }
        #expect(attempts == 1)
        #expect(clock.sleeps == [])
    }

    @Test("R24: an exhausted error is tried again where the caller asks for it")
    func exhaustedErrorsOnRequest() async {
        var attempts = 0
        await #expect(throws: Spent.self) {
            try await withRetry(clock: clock, retriesExhausted: true) {
                attempts += 1
                throw Spent()
            }
        }
        #expect(attempts == 3)
    }

    @Test("C: withRetry: withRetry(3) makes 4 attempts, on the real timer")
    func countForm() async throws {
        // Its waits are real ones, at most 0.5, 1 and 2 s; so it succeeds at its second attempt here.
        var attempts = 0
        let value = try await withRetry(3) {
            attempts += 1
            if attempts == 1 { throw Transient() }
            return attempts
        }
        #expect(value == 2)
        #expect(Backoff.standard.limited(maxRetryCount: 3).maxAttempts == 4)
    }

    @Test("R31: a negative count counts as zero: one attempt")
    func negativeCount() async {
        var attempts = 0
        await #expect(throws: Transient.self) {
            try await withRetry(-1) {
                attempts += 1
                throw Transient()
            }
        }
        #expect(attempts == 1)
    }

    @Test("onRetry is called before each delay, with the attempt, its error and the delay")
    func onRetry() async {
        var seen: [String] = []
        let schedule = Backoff.explicit([.seconds(1), .seconds(2)])
        await #expect(throws: Transient(number: 3)) {
            try await withRetry(
                schedule,
                clock: clock,
                onRetry: { seen.append("\($0.number) \(($1 as? Transient)?.number ?? 0) \($2) \(clock.sleeps.count)") }
            ) { attempt in
                throw Transient(number: attempt.number)
            }
        }
        #expect(seen == ["1 1 1.0 seconds 0", "2 2 2.0 seconds 1"])
    }

    @Test("onRetry is not called where the deadline leaves no time for the retry, or the task was cancelled")
    func noRetry() async {
        var seen: [Int] = []
        let schedule = Backoff.explicit([.seconds(1), .seconds(2), .seconds(3)])
        await #expect(throws: Transient(number: 3)) {
            try await withRetry(
                schedule,
                timeout: .seconds(6),
                clock: clock,
                onRetry: { attempt, _, _ in seen.append(attempt.number) }
            ) {
                throw Transient(number: $0.number)
            }
        }
        #expect(seen == [1, 2])
        await #expect(throws: Transient(number: 1)) {
            try await withRetry(
                .immediately(),
                timeout: .zero,
                clock: clock,
                onRetry: { attempt, _, _ in seen.append(attempt.number) }
            ) {
                throw Transient(number: $0.number)
            }
        }
        let cancelled = Task { [clock] in
            let seen = Locked<[Int]>([])
            let predicate = { @Sendable (_: any Error) in
                withUnsafeCurrentTask { $0?.cancel() }
                return true
            }
            _ = try? await withRetry(schedule, clock: clock, while: predicate) { attempt, _, _ in
                seen.withLock { $0.append(attempt.number) }
            } operation: {
                throw Transient()
            }
            return seen.withLock { $0 }
        }
        #expect(await cancelled.value.isEmpty)
        #expect(seen == [1, 2])
    }

    @Test("R31: a count at the end of the range does not overflow")
    func largestCount() throws {
        #expect(Backoff.standard.limited(maxRetryCount: .max).maxAttempts == .max)
    }

    @Test("R13: a schedule without end goes on for as long as it takes")
    func manyAttempts() async throws {
        let schedule = Backoff.exponential(from: .seconds(1), maxAttempts: nil)
        var attempts = 0
        try await withRetry(schedule.capped(at: .seconds(30)), clock: clock) {
            attempts += 1
            if attempts < 5000 { throw Transient() }
        }
        #expect(attempts == 5000)
        #expect(clock.sleeps.max() == .seconds(30))
    }
}
