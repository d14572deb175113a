/// Runs an operation with a time limit, after which it is cancelled.
///
/// An operation that ignores cancellation is awaited to its end; nothing is left running.
///
/// - Returns: the value, and whether the operation was cancelled because of the limit. The value may be complete even
///   then, if the operation finished as the limit passed.
@inline(never)
package func withTimeout<Value: Sendable>(
    _ limit: Duration,
    on clock: AnyClock,
    _ work: @escaping @Sendable () async -> Value
) async -> (value: Value, isCut: Bool) {
    let end = clock.now.advanced(by: limit)
    let (work, isDone) = begin(work)
    // Most operations finish without suspending, and need neither a limit nor a timer.
    guard !isDone else { return (await work.value, false) }
    let timer = Task {
        guard (try? await clock.sleep(until: end, for: .timeout, cancelledBy: nil)) != nil else { return false }
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

/// Starts the operation, on the current thread if possible; returns whether it has already finished.
private func begin<Value: Sendable>(
    _ work: @escaping @Sendable () async -> Value
) -> (work: Task<Value, Never>, isDone: Bool) {
    guard #available(macOS 26, iOS 26, tvOS 26, watchOS 26, visionOS 26, *) else {
        return (Task { await work() }, false)
    }
    let isDone = Locked(false)
    let isCancelled = Task.isCancelled
    let task = Task.immediate {
        // A cancellation cannot reach the task until it suspends, so it is passed on here.
        if isCancelled { withUnsafeCurrentTask { $0?.cancel() } }
        let value = await work()
        isDone.withLock { $0 = true }
        return value
    }
    return (task, isDone.withLock { $0 })
}

extension HTTPRequest {
    /// Waits for a prerequisite of sending the request, such as a slot or a credential; the deadline cancels the wait.
    ///
    /// Returns the value, and whether the deadline passed. Without a deadline no clock is read and no task is started.
    package func withinDeadline<Value: Sendable>(
        on clocks: RetryClocks,
        _ wait: @escaping @Sendable () async -> Value
    ) async -> (value: Value, isCut: Bool) {
        guard let deadline else { return (await wait(), false) }
        return await withTimeout(deadline.remaining.clampedToDelay, on: clocks.timer, wait)
    }

    /// The error of a request whose deadline passed before it was sent.
    ///
    /// - Parameter moment: the end of the message, such as "while it waited for its turn".
    package func tooLate(_ moment: String) -> HTTPError {
        let message = "the timeout of the call passed \(moment)"
        return HTTPError(.deadlineExceeded, request: self, message: message, bytesSent: 0)
    }
}
