// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@Suite("withRetry over outcomes")
struct WithRetryTests {
    let clock = TestClock(.autoAdvancing)

    @Test("an outcome that is finished with at once is returned after one attempt")
    func oneAttempt() async throws {
        let outcome = try await withRetry(clock: clock) { attempt in
            attempt.number
        } decide: { _, number in
            .finish(number * 10, .succeeded)
        }
        #expect(outcome == 10)
        #expect(clock.sleeps == [])
    }

    @Test("R24: the first success reads no clock and draws no random number")
    func freeOfCharge() async throws {
        let random = RandomSource(seed: 7)
        let value = try await withRetry(clock: clock, random: random) { "first" }
        #expect(value == "first")
        #expect(clock.uses == 0)
        #expect(random.next() == RandomSource(seed: 7).next())
    }

    @Test("a failure does draw, so that the test before this one means something")
    func drawsAfterFailure() async throws {
        let random = RandomSource(seed: 7)
        try await withRetry(clock: clock, random: random) { attempt in
            if attempt.number == 1 { throw Transient() }
        }
        #expect(clock.uses > 0)
        #expect(random.next() != RandomSource(seed: 7).next())
    }

    @Test("each attempt knows its number, the counted attempts and the wait before it")
    func attemptsCount() async throws {
        var seen: [Attempt] = []
        let outcome = try await withRetry(clock: clock) { attempt in
            seen.append(attempt)
            return attempt.number
        } decide: { attempt, number in
            number == 4 ? .finish(number, .succeeded) : .retry(after: .seconds(number), .transientError)
        }
        #expect(outcome == 4)
        #expect(seen.map(\.number) == [1, 2, 3, 4])
        #expect(seen.map(\.countedAttempts) == [1, 2, 3, 4])
        #expect(seen.map(\.previousDelay) == [.zero, .seconds(1), .seconds(2), .seconds(3)])
        #expect(seen.allSatisfy { $0.remaining == nil })
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(3)])
    }

    @Test("R11: a free retry has a number of its own and is not counted")
    func freeAttempts() async throws {
        var seen: [Attempt] = []
        _ = try await withRetry(clock: clock) { attempt in
            seen.append(attempt)
        } decide: { attempt, _ in
            attempt.number == 5
                ? .finish((), .succeeded)
                : .retry(after: .zero, .transientError, isFree: !attempt.number.isMultiple(of: 2))
        }
        #expect(seen.map(\.number) == [1, 2, 3, 4, 5])
        #expect(seen.map(\.countedAttempts) == [1, 1, 2, 2, 3])
    }

    @Test("R11: free retries do not use up a schedule's number of attempts")
    func freeAttemptsAndSchedules() async throws {
        let schedule = Backoff.constant(delay: .seconds(1), maxAttempts: 2)
        var attempts = 0
        _ = try await withRetry(clock: clock) { _ in
            attempts += 1
        } decide: { attempt, _ in
            if attempt.number <= 3 { return .retry(after: .zero, .transientError, isFree: true) }
            guard let delay = schedule.delay(after: attempt) else { return .finish((), .attemptsUsedUp) }
            return .retry(after: delay, .transientError)
        }
        // Three free ones, then the two that the schedule allows.
        #expect(attempts == 5)
        #expect(clock.sleeps == [.seconds(1)])
    }

    @Test("no wait is asked of the clock where the delay is zero or negative")
    func noSleepForNothing() async throws {
        var delays: [Duration] = [.zero, .seconds(-5), Duration(attoseconds: .min)]
        _ = try await withRetry(clock: clock) { _ in
        } decide: { _, _ in
            guard let delay = delays.popLast() else { return .finish((), .succeeded) }
            return .retry(after: delay, .transientError)
        }
        #expect(clock.uses == 0)
    }

    @Test("R13: a delay that is too large for any clock is cut, not trapped")
    func hugeDelays() async throws {
        var seen: [Duration] = []
        _ = try await withRetry(clock: clock) { attempt in
            seen.append(attempt.previousDelay)
        } decide: { attempt, _ in
            switch attempt.number {
            case 1: .retry(after: Duration(attoseconds: .max), .transientError)
            case 2: .retry(after: .seconds(Int64.max), .transientError)
            default: .finish((), .succeeded)
            }
        }
        #expect(seen == [.zero, .longestDelay, .longestDelay])
        #expect(clock.sleeps == [.longestDelay, .longestDelay])
    }

    @Test("R31: a deadline of practically for ever overflows no clock, also one of 64 bits of nanoseconds")
    func endlessDeadline() async throws {
        let outcome = try await withRetry(timeout: .seconds(Int64.max), clock: NarrowClock()) { _ in
            7
        } decide: { _, outcome in
            .finish(outcome, .succeeded)
        }
        #expect(outcome == 7)
    }

    @Test("an attempt's numbers are at least 1, and stay where they are at the end of the range")
    func extremeNumbers() {
        #expect(Attempt(number: 0).number == 1)
        #expect(Attempt(number: .min, countedAttempts: .min).countedAttempts == 1)
        #expect(Attempt(number: .max).countedAttempts == .max)
    }

    @Test("both closures run on the caller's actor, and may touch its state")
    func callersActor() async throws {
        let account = Account()
        try await account.load(clock)
        #expect(await account.log == ["try 1", "decide 1", "try 2", "decide 2"])
        #expect(try await account.loadThrowing(clock) == 3)
        #expect(await account.predicateCalls == 2)
    }

    @Test("a class that is not Sendable may be used in the closures")
    func notSendable() async throws {
        final class Tally { var attempts = 0 }
        let tally = Tally()
        try await withRetry(clock: clock) {
            tally.attempts += 1
            if tally.attempts < 3 { throw Transient() }
        }
        #expect(tally.attempts == 3)
    }
}

/// An actor whose closures touch its own state; that this compiles without warnings is half of the test.
private actor Account {
    var log: [String] = []
    var predicateCalls = 0
    private var attempts = 0

    func load(_ clock: TestClock) async throws {
        _ = try await withRetry(clock: clock) { attempt in
            assertIsolated()
            log.append("try \(attempt.number)")
        } decide: { attempt, _ in
            assertIsolated()
            log.append("decide \(attempt.number)")
            return attempt.number < 2 ? .retry(after: .seconds(1), .transientError) : .finish((), .succeeded)
        }
    }

    func loadThrowing(_ clock: TestClock) async throws -> Int {
        try await withRetry(
            .standard,
            clock: clock,
            while: { _ in
                assertIsolated()
                predicateCalls += 1
                return true
            }
        ) {
            assertIsolated()
            attempts += 1
            if attempts < 3 { throw Transient() }
            return attempts
        }
    }
}

/// A clock that counts nanoseconds since 1970 in 64 bits, and traps where these do not suffice.
private struct NarrowClock: Clock {
    struct Instant: InstantProtocol {
        var nanoseconds: Int64

        func advanced(by duration: Duration) -> Instant {
            let (seconds, attoseconds) = duration.components
            return Instant(nanoseconds: nanoseconds + seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
        }

        func duration(to other: Instant) -> Duration { .nanoseconds(other.nanoseconds - nanoseconds) }
        static func < (left: Instant, right: Instant) -> Bool { left.nanoseconds < right.nanoseconds }
    }

    // A day in 2040.
    var now: Instant { Instant(nanoseconds: 2_208_988_800_000_000_000) }
    var minimumResolution: Duration { .nanoseconds(1) }
    func sleep(until deadline: Instant, tolerance: Duration?) async throws {}

    @Test("decide may take what holds a resource out of the outcome, so that nothing is kept over the delay")
    func letsGo() async throws {
        final class Resource: Sendable {}
        struct Outcome {
            var resource: Resource?
        }
        weak var last: Resource?
        let outcome = try await withRetry(timeout: .seconds(60), clock: TestClock(.autoAdvancing)) { attempt in
            #expect(last == nil, "the resource of the attempt before is gone")
            let resource = Resource()
            last = resource
            return Outcome(resource: resource)
        } decide: { attempt, outcome in
            guard attempt.number < 3 else { return .finish(outcome, .succeeded) }
            outcome.resource = nil
            return .retry(after: .seconds(1), .transientError)
        }
        #expect(outcome.resource != nil)
    }
}
