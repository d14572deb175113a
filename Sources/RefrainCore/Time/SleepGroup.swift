internal import Synchronization

/// Sleepers that can be cancelled together, such as all the requests that a retry stage holds in back-off.
public final class SleepGroup: Sendable {
    private let interrupters = Locked<[ObjectIdentifier: any SleepInterrupter]>([:])
    private let closed = Atomic(false)
    private let isKnownToTimer = Atomic(false)

    /// Makes an empty group.
    public init() {}

    /// Whether waits of this group end as soon as they begin.
    ///
    /// A clock asks for this under the lock with which it takes a sleeper in, so that none slips past a ``close()``.
    public var isClosed: Bool { closed.load(ordering: .acquiring) }

    /// Ends every wait of this group now, each with a `CancellationError`.
    ///
    /// Waits that begin later are not affected.
    public func cancelAll() {
        for interrupter in interrupters.withLock({ Array($0.values) }) {
            interrupter.interruptAll(in: self)
        }
    }

    /// Ends every wait of this group now and from now on, each with a `CancellationError`.
    public func close() {
        closed.store(true, ordering: .releasing)
        cancelAll()
    }

    /// Names a timer that holds sleepers of this group.
    public func register(_ interrupter: any SleepInterrupter) {
        interrupters.withLock { $0[ObjectIdentifier(interrupter)] = interrupter }
    }

    /// Forgets a timer that holds no sleeper of this group any more.
    public func unregister(_ interrupter: any SleepInterrupter) {
        interrupters.withLock { $0[ObjectIdentifier(interrupter)] = nil }
    }

    /// Names the timer of the process, which is never forgotten, and so is written down once.
    func register(_ timer: TimerQueue) {
        guard !isKnownToTimer.load(ordering: .acquiring) else { return }
        register(timer as any SleepInterrupter)
        isKnownToTimer.store(true, ordering: .releasing)
    }
}

/// A timer that can end the waits of a group.
public protocol SleepInterrupter: AnyObject, Sendable {
    /// Ends every wait of the group.
    func interruptAll(in group: SleepGroup)
}

/// A clock whose sleepers can also be woken by the one who manages them, not only by their own task.
public protocol InterruptibleClock: Clock<Duration> {
    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    func sleep(until deadline: Instant, in group: SleepGroup?) async throws

    /// Waits until `deadline` beside work that is to end then.
    ///
    /// By default it sleeps. A clock for tests whose time jumps to the end of each wait must not jump here: the work
    /// has not had its time. Throws `CancellationError` as soon as the task is cancelled.
    func alarm(at deadline: Instant) async throws
}

extension InterruptibleClock {
    /// Sleeps until `deadline`.
    public func alarm(at deadline: Instant) async throws { try await sleep(until: deadline, in: nil) }

    /// This clock, with all its sleepers in `group`.
    public func grouped(in group: SleepGroup) -> GroupedClock<Self> { GroupedClock(self, group) }
}

/// A clock that puts its sleepers into a group.
public struct GroupedClock<Base: InterruptibleClock>: Clock {
    private let base: Base
    private let group: SleepGroup

    init(_ base: Base, _ group: SleepGroup) {
        self.base = base
        self.group = group
    }

    /// The present, as the base clock has it.
    public var now: Base.Instant { base.now }
    /// The shortest step between two readings of the base clock.
    public var minimumResolution: Duration { base.minimumResolution }

    /// Waits until `deadline`; throws `CancellationError` as soon as the task or the group is cancelled.
    public func sleep(until deadline: Base.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, in: group)
    }
}
