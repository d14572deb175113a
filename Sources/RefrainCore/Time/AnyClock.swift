// SPDX-License-Identifier: Apache-2.0
/// A type-erased clock that measures in `Duration`.
@usableFromInline
package struct AnyClock: Clock {
    /// A point in time: the distance from the moment when the clock was erased.
    @usableFromInline
    package struct Instant: InstantProtocol {
        /// The time since the clock was erased.
        package let offset: Duration

        /// Returns the instant `duration` after this one.
        ///
        /// It saturates.
        @usableFromInline
        package func advanced(by duration: Duration) -> Instant { Instant(offset: offset.addingSaturated(duration)) }
        /// Returns the time from this instant to the other one.
        ///
        /// It saturates.
        @usableFromInline
        package func duration(to other: Instant) -> Duration { other.offset.subtractingSaturated(offset) }
        /// Whether the left instant comes before the right one.
        @usableFromInline
        package static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    // Indirect: a sleeping task keeps a copy of the clock in its frame.
    private indirect enum Base: Sendable {
        /// The system's timer, called directly: through a closure a sleeping task would keep three more frames.
        case timer(epoch: TimerClock.Instant)
        case other(
            elapsed: @Sendable () -> Duration,
            sleep: @Sendable (Duration, SleepPurpose, CancellationToken?) async throws -> Void,
            minimumResolution: Duration
        )
    }

    private let base: Base

    /// Erases the type of a clock; one whose type is erased already stays as it is.
    @usableFromInline
    package init<C: Clock>(_ clock: C) where C.Duration == Duration {
        if let clock = clock as? AnyClock {
            self = clock
        } else if C.self == TimerClock.self {
            base = .timer(epoch: TimerClock().now)
        } else if let clock = clock as? any CancellableClock {
            base = Self.erasing(clock)
        } else {
            base = Self.erasing(TaskSleepClock(base: clock))
        }
    }

    private static func erasing<C: CancellableClock>(_ clock: C) -> Base {
        let epoch = clock.now
        return .other(
            elapsed: { epoch.duration(to: clock.now) },
            sleep: { try await clock.sleep(until: epoch.advanced(by: $0), for: $1, cancelledBy: $2) },
            minimumResolution: clock.minimumResolution
        )
    }

    /// The shortest step between two readings.
    @usableFromInline package var minimumResolution: Duration {
        switch base {
        case .timer: TimerClock().minimumResolution
        case .other(_, _, let minimumResolution): minimumResolution
        }
    }

    /// The current time.
    @usableFromInline package var now: Instant {
        switch base {
        case .timer(let epoch): Instant(offset: epoch.duration(to: TimerClock().now))
        case .other(let elapsed, _, _): Instant(offset: elapsed())
        }
    }

    /// Sleeps until `deadline`.
    ///
    /// Throws `CancellationError` as soon as the task is cancelled.
    @usableFromInline
    package func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, for: .delay, cancelledBy: nil)
    }

    /// Whether it is the system's timer, which sleeps for a duration without reading a clock.
    @usableFromInline var isTimer: Bool {
        if case .timer = base { true } else { false }
    }
}

extension AnyClock: CancellableClock {
    package func sleep(
        until deadline: Instant,
        for purpose: SleepPurpose,
        cancelledBy token: CancellationToken?
    ) async throws {
        guard case .other(_, let sleep, _) = base else {
            let isDue = await TimerClock.sleep(for: now.duration(to: deadline), cancelledBy: token)
            if isDue { return } else { throw CancellationError() }
        }
        try await sleep(deadline.offset, purpose, token)
    }
}

/// Any clock whose sleeps only the cancellation of their task ends.
///
/// A sleep with a token gets a task of its own.
private struct TaskSleepClock<Base: Clock>: CancellableClock where Base.Duration == Duration {
    let base: Base
    var now: Base.Instant { base.now }
    var minimumResolution: Duration { base.minimumResolution }

    func sleep(until deadline: Base.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, tolerance: tolerance)
    }

    func sleep(
        until deadline: Base.Instant,
        for purpose: SleepPurpose,
        cancelledBy token: CancellationToken?
    ) async throws {
        guard let token else { return try await base.sleep(until: deadline, tolerance: nil) }
        let task = Task { try await base.sleep(until: deadline, tolerance: nil) }
        try await token.withHandler({ task.cancel() }) {
            try await withTaskCancellationHandler {
                try await task.value
            } onCancel: {
                task.cancel()
            }
        }
    }
}
