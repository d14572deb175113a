// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import RefrainSession
import RefrainTesting

/// A clock on which every wait is over at once, and is written down.
final class InstantClock: CancellableClock {
    struct Instant: InstantProtocol {
        var offset: Duration
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    private struct State {
        var now = Duration.zero
        var waits: [Duration] = []
    }

    private let state = Locked(State())
    /// A clock that does not move.
    private let still = TestClock()

    var now: Instant { Instant(offset: state.withLock { $0.now }) }
    var minimumResolution: Duration { .nanoseconds(1) }
    /// The waits so far, in order.
    var waits: [Duration] { state.withLock { $0.waits } }

    func advance(by duration: Duration) { state.withLock { $0.now += duration } }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        try await sleep(until: deadline, for: .delay, cancelledBy: nil)
    }

    func sleep(until deadline: Instant, for purpose: SleepPurpose, cancelledBy token: CancellationToken?) async throws {
        // Work with a timeout of its own has its time.
        if purpose == .timeout { return try await still.sleep(for: .seconds(1)) }
        try Task.checkCancellation()
        state.withLock { state in
            state.waits.append(deadline.offset - state.now)
            state.now = max(state.now, deadline.offset)
        }
    }

    /// This clock, with a wall clock that runs beside it.
    var pair: RetryClocks {
        RetryClocks(monotonic: AnyClock(self)) { [self] in
            WallClock.Instant(sinceEpoch: .seconds(1_000_000) + now.offset)
        }
    }
}
