// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@Suite("Deadlines")
struct DeadlineTests {
    let clock = TestClock(.autoAdvancing)

    @Test("R20: a wait that would pass the deadline is not slept, and the last outcome stands")
    func givesUpAtOnce() async throws {
        var attempts = 0
        let outcome = try await withRetry(timeout: .seconds(10), clock: clock) { _ in
            attempts += 1
            return attempts
        } decide: { _, _ in
            .retry(after: .seconds(4), .transientError)
        }
        #expect(outcome == 3)
        #expect(clock.sleeps == [.seconds(4), .seconds(4)])
        #expect(clock.now.offset == .seconds(8))
    }

    @Test("R20: a wait that would end exactly at the deadline is not slept either")
    func endsExactly() async throws {
        var given: Duration?
        let outcome = try await withRetry(timeout: .seconds(5), clock: clock) { _ in
            "tried"
        } decide: { _, _ in
            .retry(after: .seconds(5), .transientError)
        } onTimeout: { attempt, outcome, delay in
            given = delay
            return "\(outcome) \(attempt.number) time"
        }
        #expect(outcome == "tried 1 time")
        #expect(given == .seconds(5))
        #expect(clock.sleeps == [])
    }

    @Test("R20: an attempt knows how much time is left, also after one that took its time")
    func remaining() async throws {
        var seen: [Duration?] = []
        _ = try await withRetry(timeout: .seconds(10), clock: clock) { attempt in
            seen.append(attempt.remaining)
            // The attempt itself takes two seconds.
            try? await clock.sleep(for: .seconds(2))
        } decide: { _, _ in
            .retry(after: .seconds(1), .transientError)
        }
        #expect(seen == [.seconds(10), .seconds(7), .seconds(4), .seconds(1)])
    }

    @Test("R20: a retry without a wait is not made after an attempt that outlasted the deadline")
    func attemptOutlastsDeadline() async throws {
        var attempts = 0
        _ = try await withRetry(timeout: .seconds(1), clock: clock) { _ in
            attempts += 1
            try? await clock.sleep(for: .seconds(2))
        } decide: { _, _ in
            .retry(after: .zero, .transientError)
        }
        #expect(attempts == 1)
    }

    @Test("R20: a clock that oversleeps the deadline does not lead to a late attempt")
    func oversleeping() async throws {
        var attempts = 0
        _ = try await withRetry(timeout: .seconds(10), clock: SlowClock(base: clock)) { _ in
            attempts += 1
        } decide: { _, _ in
            .retry(after: .seconds(9), .transientError)
        }
        #expect(attempts == 1)
    }

    @Test("R20: the first attempt is made even where the deadline is zero or negative", arguments: [0, -1, Int.min])
    func spentDeadline(seconds: Int) async throws {
        var seen: [Duration?] = []
        await #expect(throws: Transient.self) {
            try await withRetry(.standard, timeout: .seconds(seconds), clock: clock) { (attempt: Attempt) in
                seen.append(attempt.remaining)
                throw Transient()
            }
        }
        #expect(seen == [.zero])
    }

    @Test("R20: a deadline beyond all time is none")
    func endlessDeadline() async throws {
        var attempts = 0
        _ = try await withRetry(timeout: Duration(attoseconds: .max), clock: clock) { _ in
            attempts += 1
        } decide: { attempt, _ in
            attempt.number == 3 ? .finish((), .succeeded) : .retry(after: .seconds(1 << 20), .transientError)
        }
        #expect(attempts == 3)
    }

    @Test("R20: the throwing form throws the last error where the deadline ends it")
    func throwingForm() async throws {
        let schedule = Backoff.constant(delay: .seconds(3), maxAttempts: nil)
        var attempts = 0
        await #expect(throws: Transient(number: 4)) {
            try await withRetry(schedule, timeout: .seconds(10), clock: clock) {
                attempts += 1
                throw Transient(number: attempts)
            }
        }
        #expect(clock.sleeps.count == 3)
    }
}

/// A clock that wakes its sleepers two seconds late.
private struct SlowClock: Clock {
    let base: TestClock
    var now: TestClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline.advanced(by: .seconds(2)))
    }
}
