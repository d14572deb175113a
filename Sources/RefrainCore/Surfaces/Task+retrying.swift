extension Task where Failure == any Error {
    /// Starts a task that tries its operation again after a failure, with the same wait before each try.
    ///
    /// ```swift
    /// let task = Task.retrying(maxRetryCount: 3, retryDelay: .seconds(1)) { try await load() }
    /// ```
    ///
    /// - Parameters:
    ///   - priority: the priority of the task.
    ///   - maxRetryCount: how often a failed operation is repeated: 3 means 4 tries. A negative count fails the task
    ///     with ``InvalidArgument``.
    ///   - retryDelay: the wait before each repetition. A negative one fails the task with ``InvalidArgument``.
    ///   - clock: the clock that is waited on.
    ///   - retryPredicate: which errors are transient; all, unless told otherwise. `CancellationError` is never
    ///     retried.
    ///   - operation: one try.
    /// - Returns: the task. Cancelling it ends it at once, in mid-wait as well.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        maxRetryCount: Int = 3,
        retryDelay: Duration = .seconds(1),
        clock: some Clock<Duration> = TimerClock(),
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        operation: @escaping @Sendable () async throws -> Success
    ) -> Task where Success: Sendable {
        Task(priority: priority) {
            let backoff = try Backoff.constant(delay: retryDelay, maximumNumberOfAttempts: nil)
                .limited(toRetries: maxRetryCount)
            return try await withRetry(backoff, clock: clock, while: retryPredicate, operation: operation)
        }
    }

    /// Starts a task that tries its operation again after a failure, on a schedule.
    ///
    /// - Parameters:
    ///   - priority: the priority of the task.
    ///   - backoff: when to try again, and how often.
    ///   - clock: the clock that is waited on.
    ///   - retryPredicate: which errors are transient; all, unless told otherwise. `CancellationError` is never
    ///     retried.
    ///   - operation: one try.
    /// - Returns: the task. Cancelling it ends it at once, in mid-wait as well.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        backoff: Backoff,
        clock: some Clock<Duration> = TimerClock(),
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        operation: @escaping @Sendable () async throws -> Success
    ) -> Task where Success: Sendable {
        Task(priority: priority) {
            try await withRetry(backoff, clock: clock, while: retryPredicate, operation: operation)
        }
    }
}
