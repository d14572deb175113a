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

    private let elapsed: @Sendable () -> Duration
    private let wait: @Sendable (Duration, SleepGroup?) async throws -> Void

    /// The shortest step between two readings.
    public let minimumResolution: Duration

    /// Hides the type of a clock whose sleepers can be woken in groups.
    public init<C: InterruptibleClock>(_ clock: C) {
        let epoch = clock.now
        minimumResolution = clock.minimumResolution
        elapsed = { epoch.duration(to: clock.now) }
        wait = { try await clock.sleep(until: epoch.advanced(by: $0), in: $1) }
    }

    /// Hides the type of any clock; a wait that belongs to a group costs a task there.
    public init<C: Clock>(_ clock: C) where C.Duration == Duration {
        let epoch = clock.now
        minimumResolution = clock.minimumResolution
        elapsed = { epoch.duration(to: clock.now) }
        wait = { offset, group in
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
    }

    /// The present.
    public var now: Instant { Instant(offset: elapsed()) }

    /// Waits until `deadline`, or throws `CancellationError` as soon as the task is cancelled.
    public func sleep(until deadline: Instant, tolerance: Duration? = nil) async throws {
        try await wait(deadline.offset, nil)
    }

    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    public func sleep(until deadline: Instant, in group: SleepGroup?) async throws {
        try await wait(deadline.offset, group)
    }
}

/// A wait on a clock that knows no groups.
private final class Nap: SleepInterrupter {
    let task: Task<Void, any Error>

    init(_ task: Task<Void, any Error>) { self.task = task }

    func interruptAll(in group: SleepGroup) { task.cancel() }
}
