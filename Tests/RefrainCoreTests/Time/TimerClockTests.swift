import RefrainCore
import Testing

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
        let late = Task { try await clock.sleep(for: .seconds(3600)) }
        try await clock.sleep(for: .milliseconds(5))
        let start = clock.now
        try await clock.sleep(for: .milliseconds(5))
        #expect(start.duration(to: clock.now) < .seconds(60))
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

    @Test("R9: cancellation that races with the end of the wait leaves nobody behind")
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

    @Test("R9: a group ends its own waits, and nobody else's")
    func groups() async throws {
        let (first, second) = (SleepGroup(), SleepGroup())
        let inFirst = (0..<500).map { _ in Task { try await clock.grouped(in: first).sleep(for: .seconds(3600)) } }
        let inSecond = Task { try await clock.grouped(in: second).sleep(for: .milliseconds(200)) }
        let inNone = Task { try await clock.sleep(for: .milliseconds(200)) }
        // Waits that begin after the call are not meant, so it is repeated until all have begun.
        let ending = Task {
            while !Task.isCancelled {
                first.cancelAll()
                try await clock.sleep(for: .milliseconds(1))
            }
        }
        for task in inFirst { #expect(await task.result.isCancelled) }
        ending.cancel()
        try await inSecond.value
        try await inNone.value
        // The group can be used again afterwards.
        try await clock.grouped(in: first).sleep(for: .milliseconds(1))
    }

    @Test("R9: a group that is closed ends thousands of waits, those that begin meanwhile included, each of them once")
    func closedGroup() async {
        let (group, ended) = (SleepGroup(), Counter())
        let tasks = (0..<5000).map { number in
            Task {
                defer { ended.next() }
                try await clock.sleep(until: clock.now.advanced(by: .seconds(3600)), in: group)
            }
        }
        // Some of them leave on their own, so that alarms without sleepers lie between the others.
        for task in tasks.prefix(2000) { task.cancel() }
        group.close()
        var cancelled = 0
        for task in tasks where await task.result.isCancelled { cancelled += 1 }
        #expect(cancelled == 5000)
        #expect(ended.value == 5000)
    }

    @Test("R21: a deadline at the end of time is waited for like any other")
    func endOfTime() async {
        let task = Task { try await clock.sleep(for: .longestDelay) }
        try? await clock.sleep(for: .milliseconds(2))
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }
}

extension Result where Failure == any Error {
    fileprivate var isCancelled: Bool {
        if case .failure(let error) = self { return error is CancellationError }
        return false
    }
}
