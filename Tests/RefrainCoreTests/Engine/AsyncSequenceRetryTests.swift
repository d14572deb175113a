// SPDX-License-Identifier: Apache-2.0
import RefrainTesting
import Testing

@testable import RefrainCore

@Suite("AsyncSequence.retry")
struct AsyncSequenceRetryTests {
    let clock = TestClock(.autoAdvancing)
    let now = Backoff.immediately(maxAttempts: 3)

    private func schedule(_ attempts: Int) throws -> Backoff {
        .constant(delay: .seconds(1), maxAttempts: attempts)
    }

    @Test("C: AsyncSequence.retry: a sequence that does not fail passes unchanged")
    func passesThrough() async throws {
        let source = Flaky(starts: [.init(elements: 3, fails: false)])
        #expect(try await elements(of: source.retry(try schedule(3), clock: clock)) == [0, 1, 2])
        #expect(source.started.value == 1)
        #expect(clock.uses == 0)
    }

    @Test("C: AsyncSequence.retry: a number of retries and a delay, as a duration or in seconds")
    func countAndDelay() async throws {
        let source = Flaky(starts: [.init(elements: 1, fails: true), .init(elements: 2, fails: false)])
        #expect(try await elements(of: source.retry(1, delay: .milliseconds(1))) == [0, 0, 1])
        let again = Flaky(starts: [.init(elements: 1, fails: true), .init(elements: 2, fails: false)])
        #expect(try await elements(of: again.retry(1, delay: 0.001)) == [0, 0, 1])
        #expect(source.retry(3, delay: 1).backoff == .constant(delay: .seconds(1), maxAttempts: 4))
    }

    @Test("C: AsyncSequence.retry: after a failure the sequence starts again, and its elements come again")
    func startsAgain() async throws {
        let source = Flaky(starts: [.init(elements: 2, fails: true), .init(elements: 3, fails: false)])
        #expect(try await elements(of: source.retry(try schedule(3), clock: clock)) == [0, 1, 0, 1, 2])
        #expect(source.started.value == 2)
        #expect(clock.sleeps == [.seconds(1)])
    }

    @Test("C: AsyncSequence.retry: the attempts count over the whole iteration, not from each element that comes")
    func countsAcross() async throws {
        let source = Flaky(starts: [.init(elements: 1, fails: true)])
        let collected = Collected<Int>()
        await #expect(throws: Transient.self) {
            for try await element in source.retry(try schedule(3), clock: clock) { collected.add(element) }
        }
        #expect(collected.values == [0, 0, 0])
        #expect(source.started.value == 3)
        #expect(clock.sleeps == [.seconds(1), .seconds(1)])
    }

    @Test("C: AsyncSequence.retry: a schedule goes on where it was, across elements")
    func scheduleGoesOn() async throws {
        let source = Flaky(starts: [.init(elements: 1, fails: true)])
        let backoff = Backoff.exponential(from: .seconds(1), maxAttempts: 4)
        _ = try? await elements(of: source.retry(backoff, clock: clock))
        #expect(clock.sleeps == [.seconds(1), .seconds(2), .seconds(4)])
    }

    @Test("C: AsyncSequence.retry: each iteration has its own count")
    func iterationsAreApart() async throws {
        let source = Flaky(starts: [.init(elements: 0, fails: true)])
        let sequence = source.retry(try schedule(2), clock: clock)
        _ = try? await elements(of: sequence)
        _ = try? await elements(of: sequence)
        #expect(source.started.value == 4)
    }

    @Test("C: AsyncSequence.retry: an error that is not accepted ends the sequence, and then it stays at its end")
    func finalErrors() async throws {
        let source = Flaky(starts: [.init(elements: 1, fails: true)])
        var iterator = source.retry(try schedule(3), clock: clock, while: { !($0 is Transient) }).makeAsyncIterator()
        #expect(try await iterator.next() == 0)
        await #expect(throws: Transient.self) { try await iterator.next() }
        #expect(try await iterator.next() == nil)
        #expect(source.started.value == 1)
    }

    @Test("R24: an exhausted error is not tried again")
    func exhausted() async throws {
        let source = Flaky(starts: [.init(elements: 0, fails: true)], error: Spent())
        await #expect(throws: Spent.self) { try await elements(of: source.retry(try schedule(3), clock: clock)) }
        #expect(source.started.value == 1)
    }

    @Test("C: AsyncSequence.retry: retry(3) starts a sequence up to four times, on the real timer")
    func countForm() async throws {
        let source = Flaky(starts: [.init(elements: 1, fails: true), .init(elements: 2, fails: false)])
        #expect(try await elements(of: source.retry(3)) == [0, 0, 1])
        let none = Flaky(starts: [.init(elements: 1, fails: true)])
        await #expect(throws: Transient.self) { try await elements(of: none.retry(-1)) }
        #expect(none.started.value == 1)
    }

    @Test("R9: cancellation in mid-wait ends the iteration")
    func cancelled() async throws {
        let clock = TestClock()
        let source = Flaky(starts: [.init(elements: 1, fails: true)])
        let sequence = source.retry(try schedule(3), clock: clock)
        let task = Task { try await elements(of: sequence) }
        await clock.sleepers(atLeast: 1)
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(source.started.value == 1)
    }

    @Test("C: AsyncSequence.retry: an actor may iterate over its own sequence")
    func onAnActor() async throws {
        let reader = Reader()
        let source = Flaky(starts: [.init(elements: 1, fails: true), .init(elements: 1, fails: false)])
        try await reader.read(source.retry(try schedule(2), clock: clock))
        #expect(await reader.sum == 2)
    }
}

private func elements(of sequence: some AsyncSequence<Int, any Error>) async throws -> [Int] {
    var elements: [Int] = []
    for try await element in sequence { elements.append(element) }
    return elements
}

private actor Reader {
    var sum = 0

    func read(_ sequence: some AsyncSequence<Int, any Error>) async throws {
        for try await element in sequence { sum += element + 1 }
    }
}

/// A sequence that counts from zero, and fails or ends as each of its starts says; the last one holds for all further.
private struct Flaky: AsyncSequence, Sendable {
    struct Start: Sendable {
        var elements: Int
        var fails: Bool
    }

    let starts: [Start]
    var error: any Error & Sendable = Transient()
    let started = Counter()

    func makeAsyncIterator() -> Iterator {
        let index = started.next() - 1
        return Iterator(start: starts[Swift.min(index, starts.count - 1)], error: error)
    }

    struct Iterator: AsyncIteratorProtocol {
        let start: Start
        let error: any Error
        var position = 0

        mutating func next() async throws -> Int? {
            guard position < start.elements else {
                if start.fails { throw error }
                return nil
            }
            position += 1
            return position - 1
        }
    }
}
