// SPDX-License-Identifier: Apache-2.0
extension Task where Failure == any Error {
    /// Starts a task that retries its operation after a failure, with the same delay before each retry.
    ///
    /// ```swift
    /// let task = Task.retrying(
    ///     maxRetryCount: 3, retryDelay: .seconds(1)
    /// ) {
    ///     try await load()
    /// }
    /// ```
    ///
    /// How it nests: retries of this package do not multiply (rule R24). A request of a `Session` or of a chain with a
    /// `Retry` stage that has used up its own attempts, or that must not be sent twice, throws an error that this task
    /// does not retry, so an operation that loads such a request runs once. With `retriesExhausted: true` the
    /// operation runs again, and each run has all the attempts of the request: 4 runs of 3 attempts are 12 sends. A
    /// request whose policy has no retries has used up nothing, and is retried here. The default policy of a
    /// `Session` makes no retries within this task: each run sends such a request once. Its decisions still hold: a
    /// request that must not be sent twice, or for whose retry the budget has no credit, ends the task, and the delay
    /// that a server requests is waited for. A generated idempotency key is the same in every run.
    ///
    /// - Parameters:
    ///   - priority: the priority of the task.
    ///   - maxRetryCount: the number of retries: 3 means at most 4 attempts. A negative number counts as 0. Defaults
    ///     to 3.
    ///   - retryDelay: the delay before each retry. A negative one counts as zero. Defaults to one second.
    ///   - clock: the clock for the delays. Defaults to a monotonic one with one timer for all delays.
    ///   - retriesExhausted: whether to retry errors on which an inner loop has used up its attempts. Defaults to
    ///     false.
    ///   - retryPredicate: returns whether an error is transient. By default every error is. `CancellationError` is
    ///     never retried.
    ///   - onRetry: is called before each delay, with the attempt that failed, its error and the delay; not where no
    ///     retry follows.
    ///   - operation: one attempt.
    /// - Returns: the task. Cancelling it ends it at once, during a delay, too.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        maxRetryCount: Int = 3,
        retryDelay: Duration = .seconds(1),
        clock: some Clock<Duration> = TimerClock(),
        retriesExhausted: Bool = false,
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        onRetry: (@Sendable (Attempt, any Error, Duration) async -> Void)? = nil,
        operation: @escaping @Sendable (Attempt) async throws -> Success
    ) -> Task where Success: Sendable {
        retrying(
            priority: priority,
            backoff: Backoff.constant(delay: retryDelay).limited(maxRetryCount: maxRetryCount),
            clock: clock,
            retriesExhausted: retriesExhausted,
            retryPredicate: retryPredicate,
            onRetry: onRetry,
            operation: operation
        )
    }

    /// Starts a task that retries its operation after a failure, with the same delay before each retry.
    ///
    /// - SeeAlso: the form whose operation takes an ``Attempt``, which documents the parameters.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        maxRetryCount: Int = 3,
        retryDelay: Duration = .seconds(1),
        clock: some Clock<Duration> = TimerClock(),
        retriesExhausted: Bool = false,
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        onRetry: (@Sendable (Attempt, any Error, Duration) async -> Void)? = nil,
        operation: @escaping @Sendable () async throws -> Success
    ) -> Task where Success: Sendable {
        retrying(
            priority: priority,
            maxRetryCount: maxRetryCount,
            retryDelay: retryDelay,
            clock: clock,
            retriesExhausted: retriesExhausted,
            retryPredicate: retryPredicate,
            onRetry: onRetry
        ) { (_: Attempt) in try await operation() }
    }

    /// Starts a task that retries its operation after a failure, with a delay in seconds before each retry.
    ///
    /// ```swift
    /// let task = Task.retrying(maxRetryCount: 3, retryDelay: 1) {
    ///     try await load()
    /// }
    /// ```
    ///
    /// - Parameter retryDelay: the delay in seconds. A negative one and NaN count as zero; a very long one as
    ///   `Duration.longestDelay`.
    /// - SeeAlso: the form with a `Duration`, which documents the other parameters.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        maxRetryCount: Int = 3,
        retryDelay: Double,
        clock: some Clock<Duration> = TimerClock(),
        retriesExhausted: Bool = false,
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        onRetry: (@Sendable (Attempt, any Error, Duration) async -> Void)? = nil,
        operation: @escaping @Sendable () async throws -> Success
    ) -> Task where Success: Sendable {
        retrying(
            priority: priority,
            maxRetryCount: maxRetryCount,
            retryDelay: Duration.delay(seconds: retryDelay),
            clock: clock,
            retriesExhausted: retriesExhausted,
            retryPredicate: retryPredicate,
            onRetry: onRetry,
            operation: operation
        )
    }

    /// Starts a task that retries its operation after a failure, on a schedule.
    ///
    /// - Parameter backoff: the delays and the number of attempts.
    /// - SeeAlso: the form with a `retryDelay`, which documents the other parameters.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        backoff: Backoff,
        clock: some Clock<Duration> = TimerClock(),
        retriesExhausted: Bool = false,
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        onRetry: (@Sendable (Attempt, any Error, Duration) async -> Void)? = nil,
        operation: @escaping @Sendable (Attempt) async throws -> Success
    ) -> Task where Success: Sendable {
        Task(priority: priority) {
            let loop = OuterRetry(makesAttempts: true)
            return try await withRetry(
                backoff,
                clock: clock,
                retriesExhausted: retriesExhausted,
                while: retryPredicate,
                onRetry: onRetry
            ) { attempt in
                try await loop.run(attempt) { try await operation(attempt) }
            }
        }
    }

    /// Starts a task that retries its operation after a failure, on a schedule.
    ///
    /// - Parameter backoff: the delays and the number of attempts.
    /// - SeeAlso: the form with a `retryDelay`, which documents the other parameters.
    @discardableResult
    public static func retrying(
        priority: TaskPriority? = nil,
        backoff: Backoff,
        clock: some Clock<Duration> = TimerClock(),
        retriesExhausted: Bool = false,
        retryPredicate: @escaping @Sendable (any Error) async -> Bool = { _ in true },
        onRetry: (@Sendable (Attempt, any Error, Duration) async -> Void)? = nil,
        operation: @escaping @Sendable () async throws -> Success
    ) -> Task where Success: Sendable {
        retrying(
            priority: priority,
            backoff: backoff,
            clock: clock,
            retriesExhausted: retriesExhausted,
            retryPredicate: retryPredicate,
            onRetry: onRetry
        ) { (_: Attempt) in try await operation() }
    }
}
