// SPDX-License-Identifier: Apache-2.0
import Testing

@testable import RefrainCore

/// Real time: these tests stand for what the other ones take for granted.
@Suite("TimerClock")
struct TimerClockTests {
    let clock = TimerClock()

    @Test("R21: 10,000 sleepers all wake, none of them early")
    func manySleepers() async throws {
        let early = Counter()
        let woken = try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<10_000 {
                group.addTask {
                    let deadline = clock.now.advanced(by: .milliseconds(50))
                    try await clock.sleep(until: deadline)
                    if clock.now < deadline { early.next() }
                }
            }
            return try await group.reduce(0) { count, _ in count + 1 }
        }
        #expect(woken == 10_000)
        #expect(early.value == 0)
    }

    @Test("sleepers with later deadlines do not hold up one that comes after them with an earlier one")
    func earlierOneComesLater() async throws {
        let start = clock.now
        let late = Task { try await clock.sleep(for: .seconds(3600)) }
        for _ in 0..<2 { try await clock.sleep(for: .milliseconds(5)) }
        // On a busy machine it may take long, but not as long as the late one sleeps.
        #expect(start.duration(to: clock.now) < .seconds(3600))
        late.cancel()
        await #expect(throws: CancellationError.self) { try await late.value }
    }

    @Test("a wait that is over already returns at once, unless the task is cancelled")
    func past() async throws {
        try await clock.sleep(until: clock.now.advanced(by: .seconds(-1)))
        try await clock.sleep(for: .zero)
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .zero)
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("R9: a task that is cancelled before it waits does not wait")
    func cancelledBefore() async {
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(3600))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("R9: 10,000 waits that are cancelled at once all end")
    func massCancellation() async {
        let tasks = (0..<10_000).map { number in
            Task { try await clock.sleep(for: .seconds(3600 + number % 100)) }
        }
        for task in tasks { task.cancel() }
        var cancelled = 0
        for task in tasks where await task.result.isCancelled { cancelled += 1 }
        #expect(cancelled == 10_000)
    }

    @Test("R9: cancellation that races with the end of the wait leaves no waiter behind")
    func racingCancellation() async {
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<2000 {
                group.addTask {
                    let wait = Task { try await clock.sleep(for: .microseconds(500 + number)) }
                    try? await clock.sleep(for: .microseconds(500 + number))
                    wait.cancel()
                    _ = await wait.result
                }
            }
        }
    }

    @Test("R9: a token ends thousands of sleeps with it, those that begin meanwhile included, and no others")
    func tokens() async throws {
        let (token, other, ended) = (CancellationToken(), CancellationToken(), Counter())
        let timer = AnyClock(clock)
        let tasks = (0..<5000).map { _ in
            Task {
                defer { ended.next() }
                try await timer.cancelled(by: token).sleep(for: .seconds(3600))
            }
        }
        let withOther = Task { try await timer.cancelled(by: other).sleep(for: .milliseconds(200)) }
        let withNone = Task { try await clock.sleep(for: .milliseconds(200)) }
        for task in tasks.prefix(2000) { task.cancel() }
        token.cancel()
        var cancelled = 0
        for task in tasks where await task.result.isCancelled { cancelled += 1 }
        #expect(cancelled == 5000)
        #expect(ended.value == 5000)
        try await withOther.value
        try await withNone.value
    }

    @Test("R21: a deadline at the end of time is waited for like any other")
    func endOfTime() async {
        let task = Task { try await clock.sleep(for: .longestDelay) }
        try? await clock.sleep(for: .milliseconds(2))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test(
        "R20: a sleep ends in time although the thread of the timer cannot be started, at first or ever",
        arguments: [3, Int.max]
    )
    func noThread(failures: Int) async {
        let attempts = Locked(0)
        let timer = TimerThread(mayStart: {
            attempts.withLock { attempts in
                attempts += 1
                return attempts > failures
            }
        })
        for milliseconds in [1, 40, 5] {
            let isDue = await withUnsafeContinuation { continuation in
                timer.add(continuation, for: .milliseconds(milliseconds), cancelledBy: nil) { _ in }
            }
            #expect(isDue)
        }
        #expect(attempts.withLock { $0 } >= 4)
    }
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { return error is CancellationError }
        return false
    }
}
