extension Clock where Duration == Swift.Duration {
    /// Waits for `delay`; false as soon as the task is cancelled.
    ///
    /// The clocks of this package are told apart while compiling, and their waits inlined: a call by way of the
    /// protocol would cost whoever waits two more frames, and no clock needs to be read to say when the wait is over.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func waits(for delay: Duration) async -> Bool {
        if Self.self == TimerClock.self { return await TimerClock.sleep(for: delay, in: nil) }
        if Self.self == StageClock.self, let clock = self as? StageClock { return await clock.waits(inStageFor: delay) }
        do {
            try await sleep(until: now.advanced(by: delay), tolerance: nil)
            return true
        } catch {
            return false
        }
    }
}
