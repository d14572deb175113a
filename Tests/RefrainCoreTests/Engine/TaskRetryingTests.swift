// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@Suite("Task.retrying")
struct TaskRetryingTests {
    let clock = TestClock(.autoAdvancing)

    @Test("C: Task.retrying: maxRetryCount: 3 makes exactly 4 attempts, one second apart")
    func fourTries() async {
        let counter = Counter()
        let task: Task<Int, any Error> = Task.retrying(maxRetryCount: 3, clock: clock) {
            throw Transient(number: counter.next())
        }
        await #expect(throws: Transient(number: 4)) { try await task.value }
        #expect(counter.value == 4)
        #expect(clock.sleeps == [.seconds(1), .seconds(1), .seconds(1)])
    }

    @Test("C: Task.retrying: 3 retries are the default")
    func defaultCount() async {
        let counter = Counter()
        let task = Task.retrying(clock: clock) {
            counter.next()
            throw Transient()
        }
        await #expect(throws: Transient.self) { try await task.value }
        #expect(counter.value == 4)
    }

    @Test("C: Task.retrying: the delay is the one that was asked for")
    func givenDelay() async throws {
        let counter = Counter()
        let task = Task.retrying(maxRetryCount: 9, retryDelay: .milliseconds(250), clock: clock) {
            if counter.next() < 3 { throw Transient() }
            return "done"
        }
        #expect(try await task.value == "done")
        #expect(clock.sleeps == [.milliseconds(250), .milliseconds(250)])
    }

    @Test("C: Task.retrying: maxRetryCount: 0 makes one attempt")
    func noRetry() async {
        let counter = Counter()
        let task = Task.retrying(maxRetryCount: 0, clock: clock) {
            counter.next()
            throw Transient()
        }
        await #expect(throws: Transient.self) { try await task.value }
        #expect(counter.value == 1)
    }

    @Test("R31: a negative count counts as zero, and so does a negative delay")
    func negativeArguments() async {
        let counter = Counter()
        let once = Task.retrying(maxRetryCount: -1, clock: clock) { throw Transient(number: counter.next()) }
        await #expect(throws: Transient(number: 1)) { try await once.value }
        let twice = Task.retrying(maxRetryCount: 1, retryDelay: .seconds(-1), clock: clock) {
            throw Transient(number: counter.next())
        }
        await #expect(throws: Transient(number: 3)) { try await twice.value }
        #expect(clock.sleeps.isEmpty)
    }

    @Test(
        "C: Task.retrying: the delay can be a plain number of seconds, which is clamped",
        arguments: [
            (1, Duration.seconds(1)), (0.25, .milliseconds(250)), (-1, nil), (.nan, nil), (1e300, .longestDelay),
        ]
    )
    func seconds(delay: Double, waits: Duration?) async throws {
        let counter = Counter()
        let task = Task.retrying(maxRetryCount: 1, retryDelay: delay, clock: clock) {
            if counter.next() == 1 { throw Transient() }
        }
        try await task.value
        #expect(clock.sleeps == (waits.map { [$0] } ?? []))
        // The literal of the articles.
        try await Task.retrying(maxRetryCount: 2, retryDelay: 1, clock: clock) {}.value
    }

    @Test("C: Task.retrying: the operation can take its attempt, and onRetry receives each failure")
    func attempts() async throws {
        let seen = Collected<String>()
        let task = Task.retrying(
            maxRetryCount: 2,
            clock: clock,
            onRetry: { seen.add("failed \($0.number), waits \($2), \($1 is Transient)") }
        ) { attempt in
            seen.add("attempt \(attempt.number)")
            if attempt.number < 3 { throw Transient() }
        }
        try await task.value
        #expect(
            seen.values == [
                "attempt 1", "failed 1, waits 1.0 seconds, true", "attempt 2", "failed 2, waits 1.0 seconds, true",
                "attempt 3",
            ]
        )
    }

    @Test("R24: an error on which an inner loop has used up its attempts is retried only with retriesExhausted")
    func exhausted() async {
        struct Exhausted: RetryTerminalError { let retriesAreExhausted = true }
        let counter = Counter()
        let operation: @Sendable () async throws -> Void = {
            counter.next()
            throw Exhausted()
        }
        _ = await Task.retrying(maxRetryCount: 3, clock: clock, operation: operation).result
        #expect(counter.value == 1)
        _ = await Task.retrying(maxRetryCount: 3, clock: clock, retriesExhausted: true, operation: operation).result
        #expect(counter.value == 5)
    }

    @Test("C: Task.retrying: the predicate ends the task at an error that is not worth it")
    func predicate() async {
        let counter = Counter()
        let task = Task.retrying(maxRetryCount: 5, clock: clock, retryPredicate: { $0 is Transient }) {
            if counter.next() == 2 { throw Final() }
            throw Transient()
        }
        await #expect(throws: Final.self) { try await task.value }
        #expect(counter.value == 2)
    }

    @Test("C: Task.retrying: a schedule can be given instead of a delay")
    func schedule() async throws {
        let backoff = Backoff.fibonacci(from: .seconds(1), maxAttempts: 6)
        let task = Task.retrying(backoff: backoff, clock: clock) { throw Transient() }
        await #expect(throws: Transient.self) { try await task.value }
        #expect(clock.sleeps == [1, 1, 2, 3, 5].map { .seconds($0) })
    }

    @Test("R9: cancelling the task ends it in mid-wait")
    func cancel() async {
        let clock = TestClock()
        let task = Task.retrying(maxRetryCount: 3, clock: clock) { throw Transient() }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("C: Task.retrying: the priority reaches the operation")
    func priority() async throws {
        let task = Task.retrying(priority: .high, clock: clock) { Task.currentPriority >= .high }
        #expect(try await task.value)
    }
}
