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
        let (work, isDone) = begin(work)
        // Most work needs no wait after all: then there is nothing to limit, and no clock is asked to ring.
        guard !isDone else { return (await work.value, false) }
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

    /// Begins the work, on the present thread where that can be; the answer says whether it is done already.
    private static func begin<Value: Sendable>(
        _ work: @escaping @Sendable () async -> Value
    ) -> (work: Task<Value, Never>, isDone: Bool) {
        guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
            return (Task { await work() }, false)
        }
        let isDone = Locked(false)
        let isCancelled = Task.isCancelled
        let task = Task.immediate {
            // Nobody else can tell it before it has to wait.
            if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
            let value = await work()
            isDone.withLock { $0 = true }
            return value
        }
        return (task, isDone.withLock { $0 })
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

    /// The failure of this request where its deadline has passed before it was sent.
    ///
    /// - Parameter moment: what it was about then, as the end of a sentence: "while it waited for its turn".
    package func tooLate(_ moment: String) -> HTTPError {
        let message = "the deadline of the call passed \(moment)"
        return HTTPError(.deadlineExceeded, request: self, message: message, bytesSent: 0)
    }
}
