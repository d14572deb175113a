/// An erased clock with all its sleepers in a group: the clock of a stage.
///
/// It does what ``GroupedClock`` does, but its waits are inlined into their caller, so that a request in back-off keeps
/// fewer frames.
@usableFromInline
package struct StageClock: Clock {
    @usableFromInline let base: ErasedClock
    @usableFromInline let group: SleepGroup

    package init(_ base: ErasedClock, _ group: SleepGroup) {
        self.base = base
        self.group = group
    }

    @usableFromInline package var now: ErasedClock.Instant { base.now }
    @usableFromInline package var minimumResolution: Duration { base.minimumResolution }

    @usableFromInline
    package func sleep(until deadline: ErasedClock.Instant, tolerance: Duration?) async throws {
        try await base.sleep(until: deadline, in: group)
    }

    /// Waits for `delay`; false as soon as the task or the group is cancelled.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func waits(inStageFor delay: Duration) async -> Bool {
        if base.isTimer { return await TimerClock.sleep(for: delay, in: group) }
        do {
            try await sleep(until: now.advanced(by: delay), tolerance: nil)
            return true
        } catch {
            return false
        }
    }
}
