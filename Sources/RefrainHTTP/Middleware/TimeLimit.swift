/// A piece of work, and beside it one wait that cancels the work when its time is up.
///
/// Work that does not heed its cancellation goes on to its end, and is waited for: nothing is left running behind.
enum TimeLimit {
    /// Does the work; the answer says whether it was cancelled for its time, and not by the caller.
    ///
    /// The work may have been done all the same: it can end in the moment in which its time does.
    static func run<Value: Sendable>(
        within limit: Duration,
        on clock: ErasedClock,
        _ work: @escaping @Sendable () async -> Value
    ) async -> (value: Value, isCut: Bool) {
        let end = clock.now.advanced(by: limit)
        let work = Task { await work() }
        let timer = Task {
            guard (try? await clock.alarm(at: end)) != nil else { return false }
            work.cancel()
            return true
        }
        let value = await withTaskCancellationHandler {
            await work.value
        } onCancel: {
            work.cancel()
        }
        timer.cancel()
        let timeIsUp = await timer.value
        return (value, timeIsUp && !Task.isCancelled)
    }
}

extension HTTPRequest {
    /// Waits for what the request needs before it is sent, or again: the deadline cancels the wait (rule R20).
    ///
    /// The answer says whether it did. Without a deadline there is no clock and no task beside the wait.
    package func withinDeadline<Value: Sendable>(
        on clocks: ClockPair,
        _ wait: @escaping @Sendable () async -> Value
    ) async -> (value: Value, isCut: Bool) {
        guard let deadline else { return (await wait(), false) }
        return await TimeLimit.run(within: deadline.clampedToDelay, on: clocks.monotonic, wait)
    }
}
