// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainTesting
import Testing

@Suite("AnyClock and RetryClocks")
struct AnyClockTests {
    @Test("time goes on from the moment when the clock was hidden")
    func offsets() async {
        let clock = TestClock()
        await clock.advance(by: .seconds(5))
        let erased = AnyClock(clock)
        #expect(erased.now.offset == .zero)
        await clock.advance(by: .seconds(2))
        #expect(erased.now.offset == .seconds(2))
        #expect(erased.minimumResolution == clock.minimumResolution)
        // Hidden twice, it stays the same clock.
        #expect(AnyClock(erased).now.offset == .seconds(2))
        let clocks = RetryClocks(monotonic: erased) { WallClock.Instant(sinceEpoch: .zero) }
        #expect(clocks.now == .seconds(2))
    }

    @Test("a wait on the hidden clock is a wait on the clock")
    func sleeps() async throws {
        let clock = TestClock()
        let erased = AnyClock(clock)
        let task = Task { try await erased.sleep(for: .seconds(3)) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(3))
        try await task.value
        #expect(clock.sleeps == [.seconds(3)])
    }

    @Test("R9: a token cancels a sleep on a clock that knows tokens")
    func tokens() async {
        let clock = TestClock()
        let token = CancellationToken()
        let task = Task { try await AnyClock(clock).cancelled(by: token).sleep(for: .seconds(3)) }
        await clock.sleepers(atLeast: 1)
        token.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    @Test("R9: a token cancels a sleep on any clock, and so does the task")
    func tokensOfPlainClocks() async throws {
        let clock = TestClock()
        let erased = AnyClock(PlainClock(base: clock))
        let token = CancellationToken()
        let withToken = Task { try await erased.cancelled(by: token).sleep(for: .seconds(3)) }
        await clock.sleepers(atLeast: 1)
        token.cancel()
        await #expect(throws: CancellationError.self) { try await withToken.value }

        let other = CancellationToken()
        let cancelled = Task { try await erased.cancelled(by: other).sleep(for: .seconds(3)) }
        await clock.sleepers(atLeast: 1)
        cancelled.cancel()
        await #expect(throws: CancellationError.self) { try await cancelled.value }

        let woken = Task { try await erased.cancelled(by: other).sleep(for: .seconds(3)) }
        await clock.sleepers(atLeast: 1)
        await clock.advance(by: .seconds(3))
        try await woken.value
    }

    @Test("R31: instants stop at the ends of the range")
    func saturation() {
        let now = AnyClock(TestClock()).now
        let last = now.advanced(by: Duration(attoseconds: .max))
        #expect(last.advanced(by: .seconds(1)) == last)
        let first = now.advanced(by: Duration(attoseconds: .min))
        #expect(first.advanced(by: .seconds(-1)) == first)
        #expect(first.duration(to: last) == Duration(attoseconds: .max))
        #expect(last.duration(to: first) == Duration(attoseconds: .min))
        #expect(first < now && now < last)
    }

    @Test("R31: wall instants stop at the ends of the range")
    func wallSaturation() {
        let epoch = WallClock.Instant(sinceEpoch: .zero)
        let last = epoch.advanced(by: Duration(attoseconds: .max))
        #expect(last.advanced(by: .nanoseconds(1)) == last)
        let first = epoch.advanced(by: Duration(attoseconds: .min))
        #expect(first.advanced(by: .nanoseconds(-1)) == first)
        #expect(first.duration(to: last) == Duration(attoseconds: .max))
        #expect(last.duration(to: first) == Duration(attoseconds: .min))
        #expect(epoch.advanced(by: .seconds(7)).duration(to: epoch) == .seconds(-7))
    }

    @Test("R21: a pair tells monotonic time and the time of day apart")
    func pairs() async {
        let clock = TestClock()
        let noon = WallClock.Instant(sinceEpoch: .seconds(43_200))
        let pair = clock.retryClocks(wall: noon)
        #expect(pair.now == .zero)
        #expect(pair.wallNow == noon)
        await clock.advance(by: .seconds(60))
        #expect(pair.now == .seconds(60))
        #expect(pair.wallNow == noon.advanced(by: .seconds(60)))
        let set = RetryClocks(monotonic: AnyClock(clock)) { WallClock.Instant(sinceEpoch: .zero) }
        #expect(set.wallNow.sinceEpoch == .zero)
    }

    @Test("R21: the system's pair goes on, and its time of day is of this century")
    func system() async throws {
        let before = RetryClocks.system.now
        try await RetryClocks.system.monotonic.sleep(for: .milliseconds(1))
        #expect(RetryClocks.system.now - before >= .milliseconds(1))
        #expect(RetryClocks.system.wallNow > WallClock.Instant(sinceEpoch: .seconds(1_700_000_000)))
    }

    @Test("waits in whole nanoseconds are rounded up, cut and never negative")
    func nanoseconds() {
        #expect(Duration.zero.delayInNanoseconds == 0)
        #expect(Duration(attoseconds: 1).delayInNanoseconds == 1)
        #expect(Duration.nanoseconds(5).delayInNanoseconds == 5)
        #expect(Duration.seconds(-1).delayInNanoseconds == 0)
        #expect(Duration(attoseconds: .max).delayInNanoseconds == .max)
        #expect(Duration.delay(seconds: .nan) == .zero)
        #expect(Duration.delay(seconds: -1) == .zero)
        #expect(Duration.delay(seconds: .infinity) == .longestDelay)
        #expect(Duration.delay(seconds: 0.1 * 3) == .milliseconds(300))
    }
}

/// A clock that knows no tokens.
private struct PlainClock: Clock {
    let base: TestClock
    var now: TestClock.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: TestClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline)
    }
}
