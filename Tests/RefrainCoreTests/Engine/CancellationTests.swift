// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import TestSupport
import Testing

@Suite("Cancellation")
struct CancellationTests {
    @Test("R9: a task that is cancelled beforehand makes no attempt")
    func cancelledBeforehand() async {
        let counter = Counter()
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await withRetry(clock: TestClock(.autoAdvancing)) { _ = counter.next() }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(counter.value == 0)
    }

    @Test("R9: cancellation in mid-wait ends the call and makes no further attempt")
    func cancelledInMidWait() async {
        let clock = TestClock()
        let counter = Counter()
        let task = Task.retrying(maxRetryCount: 5, clock: clock) {
            counter.next()
            throw Transient()
        }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(counter.value == 1)
        #expect(clock.sleepers == 0)
    }

    @Test("R9: cancellation during an attempt is seen before the wait")
    func cancelledInAttempt() async {
        let clock = TestClock()
        let task = Task {
            try await withRetry(clock: clock) {
                withUnsafeCurrentTask { $0?.cancel() }
                throw Transient()
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(clock.sleeps == [])
    }

    @Test("R9: cancellation while the decision is made is seen before the delay", arguments: [0, 1])
    func cancelledInDecision(seconds: Int) async {
        let clock = TestClock(.autoAdvancing)
        let counter = Counter()
        let task = Task {
            try await withRetry(clock: clock) { _ in
                counter.next()
            } decide: { _, _ -> Attempt.Step<Int> in
                withUnsafeCurrentTask { $0?.cancel() }
                return .retry(after: .seconds(seconds), .transientError)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(counter.value == 1)
        #expect(clock.sleeps == [])
    }

    @Test("R9: a call that was cancelled while an error was judged, or at its last attempt, ends as cancelled")
    func cancelledBeforeTheEnd() async {
        let judged = Task {
            try await withRetry(
                clock: TestClock(),
                while: { _ in
                    withUnsafeCurrentTask { $0?.cancel() }
                    return false
                }
            ) {
                throw Transient()
            }
        }
        await #expect(throws: CancellationError.self) { try await judged.value }
        let last = Task {
            try await withRetry(maxAttempts: 1, clock: TestClock()) {
                withUnsafeCurrentTask { $0?.cancel() }
                throw Transient()
            }
        }
        await #expect(throws: CancellationError.self) { try await last.value }
        let polled = Task {
            try await poll(.never, clock: TestClock()) {
                withUnsafeCurrentTask { $0?.cancel() }
            } until: { _ in
                false
            }
        }
        await #expect(throws: CancellationError.self) { try await polled.value }
        let read = Task {
            let numbers = AsyncThrowingStream<Int, any Error>(unfolding: {
                withUnsafeCurrentTask { $0?.cancel() }
                throw Transient()
            })
            for try await _ in numbers.retry(0) {}
        }
        await #expect(throws: CancellationError.self) { try await read.value }
    }

    /// A clock whose sleeps end as if nothing had happened, although the task was cancelled meanwhile.
    private struct DeafClock: Clock {
        let base = ContinuousClock()
        var now: ContinuousClock.Instant { base.now }
        var minimumResolution: Duration { .nanoseconds(1) }

        func sleep(until deadline: ContinuousClock.Instant, tolerance: Duration?) async throws {
            withUnsafeCurrentTask { $0?.cancel() }
        }
    }

    @Test("R9: cancellation during a delay is seen after it, whatever the clock says")
    func cancelledInDelay() async {
        let counter = Counter()
        let task = Task {
            try await withRetry(clock: DeafClock()) { _ in
                counter.next()
            } decide: { _, count -> Attempt.Step<Int> in
                count < 5 ? .retry(after: .seconds(1), .transientError) : .finish(count, .succeeded)
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(counter.value == 1)
    }

    @Test("R9: an outcome that finishes the call is handed over even when the task was cancelled meanwhile")
    func finishedWhileCancelled() async throws {
        let task = Task {
            try await withRetry(clock: TestClock()) {
                withUnsafeCurrentTask { $0?.cancel() }
                return "done"
            }
        }
        #expect(try await task.value == "done")
    }

    @Test("R9: a CancellationError is never retried, whatever the predicate says")
    func cancellationErrorIsFinal() async {
        let clock = TestClock(.autoAdvancing)
        var attempts = 0
        await #expect(throws: CancellationError.self) {
            try await withRetry(.standard, clock: clock, retriesExhausted: true, while: { _ in true }) {
                attempts += 1
                throw CancellationError()
            }
        }
        #expect(attempts == 1)
        #expect(clock.sleeps == [])
    }

    @Test("R9: an error that stands for a cancellation is never retried, whatever the predicate says, in any form")
    func calledOffIsFinal() async {
        let clock = TestClock(.autoAdvancing)
        let attempts = Counter()
        for exhausted in [false, true] {
            await #expect(throws: CalledOff.self) {
                try await withRetry(.standard, clock: clock, retriesExhausted: exhausted, while: { _ in true }) {
                    attempts.next()
                    throw CalledOff()
                }
            }
        }
        let task = Task<Void, any Error>.retrying(maxRetryCount: 3, clock: clock) {
            attempts.next()
            throw CalledOff()
        }
        await #expect(throws: CalledOff.self) { try await task.value }
        let broken = AsyncThrowingStream<Int, any Error> { continuation in
            attempts.next()
            continuation.finish(throwing: CalledOff())
        }
        await #expect(throws: CalledOff.self) { for try await _ in broken.retry(3) {} }
        #expect(attempts.value == 4)
        #expect(clock.sleeps == [])
    }

    @Test("R9: a cancelled parent cancels the wait of its child")
    func cancelledParent() async {
        let clock = TestClock()
        let parent = Task {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await withRetry(clock: clock) { throw Transient() } }
                try await group.waitForAll()
            }
        }
        await clock.sleepers(atLeast: 1)
        parent.cancel()
        await #expect(throws: CancellationError.self) { try await parent.value }
    }

    @Test("R9: on the real clock a wait ends within 5 ms of its cancellation")
    func withinFiveMilliseconds() async throws {
        // On a thread of its own: a task of the pool waits for those that became ready before it. The least of many
        // counts: what other processes take on a loaded machine is not the clock's doing.
        let thread = OwnThread()
        var least = Duration.seconds(1000)
        for _ in 0..<200 where least > .milliseconds(5) {
            let attempts = Counter()
            let ended = Collected<ContinuousClock.Instant>()
            let task = Task(executorPreference: thread) {
                defer { ended.add(.now) }
                try await withRetry(.constant(delay: .seconds(3600))) {
                    attempts.next()
                    throw Transient()
                }
            }
            // The thread takes its jobs in order: it comes to this one when the first has begun its wait.
            await Task(executorPreference: thread) {}.value
            #expect(attempts.value == 1)
            let cancelled = ContinuousClock.now
            task.cancel()
            await #expect(throws: CancellationError.self) { try await task.value }
            let end = try #require(ended.values.first)
            least = min(least, cancelled.duration(to: end))
        }
        #expect(least <= .milliseconds(5))
    }
}
