// SPDX-License-Identifier: Apache-2.0
#if canImport(Combine)
import Combine
import RefrainCore
import RefrainTesting
import Testing

@Suite("Publisher.retry")
struct PublisherRetryTests {
    let clock = TestClock(.autoAdvancing)

    /// Fails as often as it is told, then delivers the number of its start.
    private func flaky(failures: Int, _ starts: Counter) -> AnyPublisher<Int, any Error> {
        Deferred {
            Result<Int, any Error> {
                let start = starts.next()
                if start <= failures { throw Transient(number: start) }
                return start
            }.publisher
        }.eraseToAnyPublisher()
    }

    private func values(of publisher: some Publisher<Int, any Error>) async throws -> [Int] {
        var values: [Int] = []
        for try await value in publisher.values { values.append(value) }
        return values
    }

    @Test("C: Publisher.retry: after a failure the publisher starts again, on a schedule")
    func startsAgain() async throws {
        let starts = Counter()
        let backoff = Backoff.constant(delay: .seconds(1), maxAttempts: 4)
        #expect(try await values(of: flaky(failures: 2, starts).retry(backoff, clock: clock)) == [3])
        #expect(clock.sleeps == [.seconds(1), .seconds(1)])
    }

    @Test("C: Publisher.retry: the last failure arrives when the attempts are used up, or the error is not accepted")
    func gives() async throws {
        let (starts, once) = (Counter(), Counter())
        let backoff = Backoff.constant(delay: .seconds(1), maxAttempts: 3)
        await #expect(throws: Transient(number: 3)) {
            _ = try await values(of: flaky(failures: 9, starts).retry(backoff, clock: clock))
        }
        await #expect(throws: Transient(number: 1)) {
            _ = try await values(of: flaky(failures: 9, once).retry(backoff, clock: clock) { _ in false })
        }
        #expect(once.value == 1)
    }
}
#endif
