/// Any clock that measures in `Duration`, with its own type and its instant's type hidden.
public struct ErasedClock: InterruptibleClock {
    /// A point in time: the distance from the moment when the clock was hidden.
    public struct Instant: InstantProtocol {
        /// The time since the clock was hidden.
        public let offset: Duration

        /// The point in time that lies `duration` after this one; it stops at the range's end.
        public func advanced(by duration: Duration) -> Instant { Instant(offset: offset.addingSaturated(duration)) }
        /// The time from this point to the other one; it stops at the range's end.
        public func duration(to other: Instant) -> Duration { other.offset.subtractingSaturated(offset) }
        /// Whether the left point comes before the right one.
        public static func < (left: Instant, right: Instant) -> Bool { left.offset < right.offset }
    }

    // Boxed: whoever waits on the clock holds a copy of it in a frame, which lasts as long as the wait.
    private indirect enum Base: Sendable {
        /// The system's timer, which is asked without a detour: on the way through a closure a sleeper would keep three
        /// more frames.
        case timer(epoch: TimerClock.Instant)
        case other(
            elapsed: @Sendable () -> Duration,
            wait: @Sendable (Duration, SleepGroup?) async throws -> Void,
            alarm: @Sendable (Duration) async throws -> Void,
            minimumResolution: Duration
        )
    }

    private let base: Base

    /// Hides the type of a clock whose sleepers can be woken in groups.
    public init<C: InterruptibleClock>(_ clock: C) {
        base = C.self == TimerClock.self ? .timer(epoch: TimerClock().now) : Self.box(clock)
    }

    private static func box<C: InterruptibleClock>(_ clock: C) -> Base {
        let epoch = clock.now
        return .other(
            elapsed: { epoch.duration(to: clock.now) },
            wait: { try await clock.sleep(until: epoch.advanced(by: $0), in: $1) },
            alarm: { try await clock.alarm(at: epoch.advanced(by: $0)) },
            minimumResolution: clock.minimumResolution
        )
    }

    /// Hides the type of any clock; a wait that belongs to a group costs a task there.
    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let epoch = clock.now
        let wait: @Sendable (Duration, SleepGroup?) async throws -> Void = { offset, group in
            let deadline = epoch.advanced(by: offset)
            guard let group else { return try await clock.sleep(until: deadline, tolerance: nil) }
            let nap = Nap(Task { try await clock.sleep(until: deadline, tolerance: nil) })
            group.register(nap)
            defer { group.unregister(nap) }
            if group.isClosed { nap.task.cancel() }
            try await withTaskCancellationHandler {
                try await nap.task.value
            } onCancel: {
                nap.task.cancel()
            }
        }
        base = .other(
            elapsed: { epoch.duration(to: clock.now) },
            wait: wait,
            alarm: { try await wait($0, nil) },
            minimumResolution: clock.minimumResolution
        )
    }

    /// The shortest step between two readings.
    public var minimumResolution: Duration {
        switch base {
        case .timer: TimerClock().minimumResolution
        case .other(_, _, _, let minimumResolution): minimumResolution
        }
    }

    /// The present.
    public var now: Instant {
        switch base {
        case .timer(let epoch): Instant(offset: epoch.duration(to: TimerClock().now))
        case .other(let elapsed, _, _, _): Instant(offset: elapsed())
        }
    }

    /// Waits until `deadline`, or throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await sleep(until: deadline, in: nil)
    }

    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    public func sleep(until deadline: Instant, in group: SleepGroup?) async throws {
        switch base {
        case .timer:
            guard await TimerClock.sleep(for: now.duration(to: deadline), in: group) else { throw CancellationError() }
        case .other(_, let wait, _, _): try await wait(deadline.offset, group)
        }
    }

    /// Waits until `deadline` beside work that is to end then, as the hidden clock does it.
    public func alarm(at deadline: Instant) async throws {
        guard case .other(_, _, let alarm, _) = base else { return try await sleep(until: deadline, in: nil) }
        try await alarm(deadline.offset)
    }

    /// Whether it is the system's timer, which can be told how long to wait without being read.
    @usableFromInline var isTimer: Bool {
        if case .timer = base { true } else { false }
    }
}

/// A wait on a clock that knows no groups.
private final class Nap: SleepInterrupter {
    let task: Task<Void, any Error>

    init(_ task: Task<Void, any Error>) { self.task = task }

    func interruptAll(in group: SleepGroup) { task.cancel() }
}
