// SPDX-License-Identifier: Apache-2.0
import RefrainHTTP
import Testing

@testable import RefrainTesting

@Suite("TestClock")
struct TestClockTests {
    @Test("time stands still until the test moves it")
    func standsStill() async {
        let clock = TestClock()
        #expect(clock.now.offset == .zero)
        await clock.advance(by: .seconds(3))
        #expect(clock.now.offset == .seconds(3))
        await clock.advance(by: .seconds(-3))
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("a sleeper wakes at its deadline, not before")
    func wakes() async throws {
        let clock = TestClock()
        let woken = Locked(false)
        let task = Task {
            try await clock.sleep(for: .seconds(2))
            woken.withLock { $0 = true }
        }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .milliseconds(1999))
        #expect(clock.sleepers == 1)
        #expect(!woken.withLock { $0 })
        await clock.advance(by: .milliseconds(1))
        try await task.value
        #expect(clock.sleepers == 0)
        #expect(clock.sleeps == [.seconds(2)])
    }

    @Test("a deadline that is not in the future ends the wait at once")
    func pastDeadlines() async throws {
        let clock = TestClock()
        try await clock.sleep(until: clock.now)
        try await clock.sleep(for: .seconds(-1))
        #expect(clock.sleeps == [.zero, .seconds(-1)])
    }

    @Test("sleepers wake in the order of their deadlines, each at its own time, whatever order they came in")
    func order() async throws {
        let clock = TestClock()
        let log = Locked<[Duration]>([])
        let tasks = [5, 1, 3, 2, 4].map { seconds in
            Task {
                try await clock.sleep(for: .seconds(seconds))
                log.withLock { $0.append(.seconds(seconds)) }
            }
        }
        await clock.sleepers(atLeast: 5)
        for seconds in 1...5 {
            await clock.advanceToNextSleeper()
            #expect(clock.now.offset == .seconds(seconds))
            #expect(clock.sleepers == 5 - seconds)
        }
        for task in tasks { try await task.value }
        #expect(Set(log.withLock { $0 }).count == 5)
    }

    @Test("one step wakes all who are due meanwhile")
    func oneStep() async throws {
        let clock = TestClock()
        let tasks = (1...100).map { number in Task { try await clock.sleep(for: .seconds(number)) } }
        await clock.sleepers(atLeast: 100)
        await clock.advance(by: .seconds(60))
        #expect(clock.sleepers == 40)
        await clock.advance(by: .seconds(40))
        for task in tasks { try await task.value }
    }

    @Test("the handshake sees each wait of a task that waits again and again")
    func handshake() async throws {
        let clock = TestClock()
        let rounds = Locked(0)
        let task = Task {
            for _ in 0..<100 {
                try await clock.sleep(for: .seconds(1))
                rounds.withLock { $0 += 1 }
            }
        }
        for round in 0..<100 {
            await clock.sleepers(atLeast: 1)
            #expect(rounds.withLock { $0 } == round)
            await clock.advance(by: .seconds(1))
        }
        try await task.value
        #expect(clock.now.offset == .seconds(100))
    }

    @Test("the handshake ends when the task that waits for sleepers is cancelled")
    func cancelledHandshake() async {
        let clock = TestClock()
        let waiting = Task { await clock.sleepers(atLeast: 1) }
        waiting.cancel()
        await waiting.value
        let cancelled = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            await clock.sleepers(atLeast: 1)
        }
        await cancelled.value
    }

    @Test("cancelling a task ends its wait, before it begins as well as in its middle")
    func cancellation() async {
        let clock = TestClock()
        let parked = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.sleepers(atLeast: 1)
        parked.cancel()
        await #expect(throws: CancellationError.self) { try await parked.value }
        #expect(clock.sleepers == 0)
        let early = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await early.value }
    }

    @Test("cancelling a token ends the sleeps with this token only")
    func tokens() async throws {
        let clock = TestClock()
        let token = CancellationToken()
        let members = (0..<10).map { _ in
            Task { try await AnyClock(clock).cancelled(by: token).sleep(for: .seconds(1)) }
        }
        let other = Task { try await clock.sleep(for: .seconds(1)) }
        await clock.sleepers(atLeast: 11)
        token.cancel()
        for task in members { await #expect(throws: CancellationError.self) { try await task.value } }
        #expect(clock.sleepers == 1)
        await clock.advanceToNextSleeper()
        try await other.value
    }

    @Test("cancellation that races with the waking leaves no sleeper behind")
    func racing() async {
        for _ in 0..<300 {
            let clock = TestClock()
            let task = Task { try await clock.sleep(for: .seconds(1)) }
            await clock.sleepers(atLeast: 1)
            let canceller = Task.detached { task.cancel() }
            await clock.advance(by: .seconds(1))
            _ = await task.result
            await canceller.value
            #expect(clock.sleepers == 0)
        }
    }

    @Test("an auto-advancing clock moves to the end of each wait at once")
    func autoAdvancing() async throws {
        let clock = TestClock(.autoAdvancing)
        for seconds in [3600, 0, 5] { try await clock.sleep(for: .seconds(seconds)) }
        #expect(clock.sleeps == [.seconds(3600), .zero, .seconds(5)])
        #expect(clock.now.offset == .seconds(3605))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            try await clock.sleep(for: .seconds(1))
        }
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("run moves time on for as long as its body waits")
    func run() async throws {
        let clock = TestClock()
        let value = try await clock.run {
            for seconds in 1...10 { try await clock.sleep(for: .seconds(seconds)) }
            return "done"
        }
        #expect(value == "done")
        #expect(clock.now.offset == .seconds(55))
    }

    @Test("run waits for as many tasks as it is told, so that none is left behind by time")
    func runSeveral() async throws {
        let clock = TestClock()
        let log = Locked<[String]>([])
        try await clock.run(whenWaiting: 2) {
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask {
                    for _ in 0..<3 {
                        try await clock.sleep(for: .seconds(2))
                        log.withLock { $0.append("slow \(clock.now.offset)") }
                    }
                    // Keeps the number of sleepers up until the other one is done.
                    try await clock.sleep(for: .seconds(60))
                }
                group.addTask {
                    for _ in 0..<7 {
                        try await clock.sleep(for: .seconds(1))
                        log.withLock { $0.append("fast \(clock.now.offset)") }
                    }
                }
                _ = try await group.next()
                group.cancelAll()
            }
        }
        #expect(
            log.withLock { $0.filter { $0.hasPrefix("slow") } } == [
                "slow 2.0 seconds", "slow 4.0 seconds", "slow 6.0 seconds",
            ]
        )
    }

    @Test("the wall clock of a pair moves along with the clock")
    func wall() async {
        let clock = TestClock()
        await clock.advance(by: .seconds(100))
        let pair = clock.retryClocks(wall: WallClock.Instant(sinceEpoch: .seconds(1_000_000)))
        #expect(pair.wallNow.sinceEpoch == .seconds(1_000_000))
        #expect(pair.now == .zero)
        await clock.advance(by: .seconds(7))
        #expect(pair.wallNow.sinceEpoch == .seconds(1_000_007))
        #expect(pair.now == .seconds(7))
    }

    @Test("10,000 sleepers are no burden")
    func many() async throws {
        let clock = TestClock()
        let tasks = (0..<10_000).map { number in Task { try await clock.sleep(for: .seconds(1 + number % 10)) } }
        await clock.sleepers(atLeast: 10_000)
        await clock.advance(by: .seconds(10))
        for task in tasks { try await task.value }
    }

    @Test("a timeout does not move the time of a clock that advances by itself, and ends where a delay has")
    func timeout() async throws {
        let clock = TestClock(.autoAdvancing)
        let timeout = Task { try await clock.timeout(at: .seconds(3)) }
        await clock.sleepers(atLeast: 1)
        try await clock.sleep(for: .seconds(2))
        #expect(clock.now.offset == .seconds(2))
        #expect(clock.sleepers == 1)
        try await clock.sleep(for: .seconds(2))
        try await timeout.value
        #expect(clock.sleeps == [.seconds(2), .seconds(2)])
        try await clock.timeout(at: .seconds(4))
        let cancelled = Task { try await clock.timeout(at: .seconds(9)) }
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }
        #expect(clock.now.offset == .seconds(4))
    }

    @Test("a timeout on a clock that the test moves ends at its time")
    func manualTimeout() async throws {
        let clock = TestClock()
        let erased = AnyClock(clock)
        let timeout = Task {
            try await erased.sleep(until: erased.now.advanced(by: .seconds(3)), for: .timeout, cancelledBy: nil)
        }
        await clock.advanceToNextSleeper()
        try await timeout.value
        #expect(clock.now.offset == .seconds(3))
    }

    @Test("a sleep whose deadline passes while it begins ends at once")
    func passedWhileItBegins() async throws {
        var state = TestClockState()
        let sleeper = TestClockSleeper(due: TestClock.Instant(offset: .seconds(1)))
        let isOver = state.begin(sleeper.due, movesTime: false)
        let due = state.removeNext(upTo: TestClock.Instant(offset: .seconds(2)))
        #expect(!isOver && due == nil)
        try await withCheckedThrowingContinuation { continuation in
            continuation.resume(with: state.add(sleeper, continuation) ?? .failure(CancellationError()))
        }
        #expect(state.sleepers.isEmpty)
    }
}

extension TestClock {
    fileprivate func timeout(at offset: Duration) async throws {
        try await sleep(until: Instant(offset: offset), for: .timeout, cancelledBy: nil)
    }
}
