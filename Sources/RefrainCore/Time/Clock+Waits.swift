extension Clock where Duration == Swift.Duration {
    /// Waits for `delay`; false as soon as the task is cancelled.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func waits(for delay: Duration) async -> Bool {
        // Told apart while compiling: no clock needs to be read in order to say when the wait is over.
        if Self.self == TimerClock.self { return await TimerClock.sleep(for: delay, in: nil) }
        do {
            try await sleep(until: now.advanced(by: delay), tolerance: nil)
            return true
        } catch {
            return false
        }
    }
}
