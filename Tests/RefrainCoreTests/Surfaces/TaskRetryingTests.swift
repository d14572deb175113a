import RefrainCore
import RefrainTesting
import Testing

@Suite("Task.retrying")
struct TaskRetryingTests {
    let clock = TestClock(.autoAdvancing)

    @Test("C: Task.retrying: maxRetryCount: 3 makes exactly 4 tries, one second apart")
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

    @Test("C: Task.retrying: maxRetryCount: 0 makes one try")
    func noRetry() async {
        let counter = Counter()
        let task = Task.retrying(maxRetryCount: 0, clock: clock) {
            counter.next()
            throw Transient()
        }
        await #expect(throws: Transient.self) { try await task.value }
        #expect(counter.value == 1)
    }

    @Test("R31: a negative count and a negative delay fail the task with the argument's name")
    func refusals() async {
        let count = Task.retrying(maxRetryCount: -1, clock: clock) { Issue.record("it was tried") }
        await #expect(throws: InvalidArgument("maxRetryCount", is: -1, expected: "zero or more")) {
            try await count.value
        }
        let delay = Task.retrying(retryDelay: .seconds(-1), clock: clock) { Issue.record("it was tried") }
        await #expect(throws: InvalidArgument("delay", is: Duration.seconds(-1), expected: "zero or more")) {
            try await delay.value
        }
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
        let backoff = try Backoff.fibonacci(from: .seconds(1), maximumNumberOfAttempts: 6)
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
