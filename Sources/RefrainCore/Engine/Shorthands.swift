// SPDX-License-Identifier: Apache-2.0
// Other spellings of what the engine offers, for names that are guessed before the documentation is read. Each calls
// the documented form.

/// Runs a throwing operation up to a number of times.
///
/// ```swift
/// let settings = try await withRetry(maxAttempts: 4) {
///     try await load()
/// }
/// ```
///
/// The same as `withRetry` with a schedule that is limited to this number.
///
/// - Parameters:
///   - maxAttempts: the number of attempts, the first one included. A number under 1 counts as 1.
///   - backoff: the delays. Defaults to those of ``Backoff/standard``; a limit of its own has no effect.
///   - timeout: the time for all attempts and delays together. Defaults to nil: no limit.
///   - clock: the clock for the delays.
///   - predicate: returns whether an error is transient. By default every error is.
///   - onRetry: is called before each delay, with the attempt that failed, its error and the delay.
///   - operation: one attempt.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    maxAttempts: Int,
    backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    while predicate: (any Error) async -> Bool = { _ in true },
    onRetry: ((Attempt, any Error, Duration) async -> Void)? = nil,
    operation: (Attempt) async throws -> Success
) async throws -> Success where C.Duration == Duration {
    let schedule = backoff.limited(maxAttempts: maxAttempts)
    return try await withRetry(
        schedule,
        timeout: timeout,
        clock: clock,
        while: predicate,
        onRetry: onRetry,
        operation: operation
    )
}

/// Runs a throwing operation up to a number of times.
///
/// - SeeAlso: the form whose operation takes an ``Attempt``, which documents the parameters.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    maxAttempts: Int,
    backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    while predicate: (any Error) async -> Bool = { _ in true },
    onRetry: ((Attempt, any Error, Duration) async -> Void)? = nil,
    operation: () async throws -> Success
) async throws -> Success where C.Duration == Duration {
    let schedule = backoff.limited(maxAttempts: maxAttempts)
    return try await withRetry(
        schedule,
        timeout: timeout,
        clock: clock,
        while: predicate,
        onRetry: onRetry,
        operation: operation
    )
}

/// Runs a throwing operation until it succeeds, with `when:` for `while:`, and an `onRetry` that takes one value.
///
/// ```swift
/// try await withRetry(
///     when: { $0 is Busy }, onRetry: { print($0) }
/// ) {
///     try await load()
/// }
/// ```
///
/// - Parameters:
///   - backoff: the delays and the number of attempts. Defaults to ``Backoff/standard``: 3 attempts.
///   - timeout: the time for all attempts and delays together. Defaults to nil: no limit.
///   - clock: the clock for the delays.
///   - predicate: returns whether an error is transient. By default every error is.
///   - onRetry: is called before each delay.
///   - operation: one attempt.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@_disfavoredOverload
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    _ backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    when predicate: (any Error) async -> Bool = { _ in true },
    onRetry: ((RetryEvent) async -> Void)? = nil,
    operation: () async throws -> Success
) async throws -> Success where C.Duration == Duration {
    try await withRetry(
        backoff,
        timeout: timeout,
        clock: clock,
        while: predicate,
        onRetry: { attempt, error, delay in await onRetry?(RetryEvent(attempt: attempt, error: error, delay: delay)) },
        operation: operation
    )
}

/// Runs a throwing operation up to a number of times, with `when:` for `while:`, and an `onRetry` that takes one value.
///
/// - Parameters:
///   - maxAttempts: the number of attempts, the first one included. A number under 1 counts as 1.
///   - backoff: the delays. Defaults to those of ``Backoff/standard``; a limit of its own has no effect.
///   - timeout: the time for all attempts and delays together. Defaults to nil: no limit.
///   - clock: the clock for the delays.
///   - predicate: returns whether an error is transient. By default every error is.
///   - onRetry: is called before each delay.
///   - operation: one attempt.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@_disfavoredOverload
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    maxAttempts: Int,
    backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    when predicate: (any Error) async -> Bool = { _ in true },
    onRetry: ((RetryEvent) async -> Void)? = nil,
    operation: () async throws -> Success
) async throws -> Success where C.Duration == Duration {
    let schedule = backoff.limited(maxAttempts: maxAttempts)
    return try await withRetry(
        schedule,
        timeout: timeout,
        clock: clock,
        when: predicate,
        onRetry: onRetry,
        operation: operation
    )
}

/// A retry that is about to happen, as `onRetry: { print($0) }` receives it.
public struct RetryEvent: Sendable, CustomStringConvertible {
    /// The attempt that failed.
    public let attempt: Attempt

    /// Its error.
    public let error: any Error

    /// The delay before the next attempt.
    public let delay: Duration

    /// The number of the attempt, its error and the delay: `attempt 1 failed: Busy(); the next one follows in 0.2 s`.
    public var description: String {
        let milliseconds = (delay.components.attoseconds / 1_000_000_000_000_000) % 1000
        let seconds = Double(delay.components.seconds) + Double(milliseconds) / 1000
        return "attempt \(attempt.number) failed: \(error); the next one follows in \(seconds) s"
    }
}

extension Backoff {
    /// Waits the same time before each retry: ``constant(delay:maxAttempts:)``.
    public static func constant(_ delay: Duration, maxAttempts: Int? = 3) -> Backoff {
        constant(delay: delay, maxAttempts: maxAttempts)
    }

    /// Waits `base` before the first retry, and `base` longer before each further one:
    /// ``linear(from:increment:maxAttempts:)``.
    public static func linear(_ base: Duration, maxAttempts: Int? = 3) -> Backoff {
        linear(from: base, maxAttempts: maxAttempts)
    }

    /// Waits `base` before the first retry, and twice as long before each further one:
    /// ``exponential(from:factor:maxAttempts:)``.
    public static func exponential(_ base: Duration, maxAttempts: Int? = 3) -> Backoff {
        exponential(from: base, maxAttempts: maxAttempts)
    }

    /// Waits 1, 1, 2, 3, 5, 8 … times `base`: ``fibonacci(from:maxAttempts:)``.
    public static func fibonacci(_ base: Duration, maxAttempts: Int? = 3) -> Backoff {
        fibonacci(from: base, maxAttempts: maxAttempts)
    }

    /// The same schedule with another number of attempts: ``limited(maxAttempts:)``.
    public func maxAttempts(_ maxAttempts: Int?) -> Backoff { limited(maxAttempts: maxAttempts) }
}

extension RetryClocks {
    /// Makes a pair of clocks from one: the time of day advances with it, from the present.
    ///
    /// - Parameter clock: the clock for delays and timeouts.
    public init<C: Clock<Duration>>(_ clock: C) {
        let timer = AnyClock(clock)
        let start = (monotonic: timer.now.offset, wall: WallClock.Instant.now)
        self.init(monotonic: timer) { start.wall.advanced(by: timer.now.offset - start.monotonic) }
    }
}
