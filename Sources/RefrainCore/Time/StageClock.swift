/// An erased clock with all its sleepers in a group: the clock of a stage.
///
/// It does what ``GroupedClock`` does, but its waits are inlined into their caller, so that a request in back-off keeps
/// fewer frames.
package struct StageClock: Clock {
    @usableFromInline let base: ErasedClock
    @usableFromInline let group: SleepGroup

    package init(_ base: ErasedClock, _ group: SleepGroup) {
        self.base = base
        self.group = group
    }

    package var now: ErasedClock.Instant { base.now }
    package var minimumResolution: Duration { base.minimumResolution }

    @inlinable
    @inline(__always)
    package func sleep(until deadline: ErasedClock.Instant, tolerance: Duration?) async throws {
        try await base.wait(until: deadline, in: group)
    }
}
