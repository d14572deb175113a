// SPDX-License-Identifier: Apache-2.0
/// Runs a throwing operation until it succeeds, the schedule ends, or its error is not transient.
///
/// ```swift
/// let settings = try await withRetry(
///     .exponential(from: .milliseconds(100), maxAttempts: 4)
/// ) {
///     try await load()
/// }
/// ```
///
/// It runs on the caller's actor, and rethrows the error of the last attempt unchanged.
///
/// Loops over requests do not multiply (rule R24): the error of a request that has used up its attempts is rethrown at
/// once, and so is that of a request that must not be sent twice, and any other exhausted ``RetryTerminalError``.
/// With `retriesExhausted: true` these errors are retried like any other. An error of another type, such as one
/// of the operation's own behind an inner `withRetry`, is retried. Where the server of a failed request has asked for a
/// delay, the loop waits for at least that long.
///
/// - Parameters:
///   - backoff: the delays and the number of attempts. Defaults to ``Backoff/standard``: 3 attempts.
///   - timeout: the time for all attempts and delays together. Defaults to nil: no limit.
///   - clock: the clock for the delays. Defaults to a monotonic one with one timer for all delays.
///   - random: the source of jitter. Defaults to ``RandomSource/shared``.
///   - retriesExhausted: whether to retry errors on which an inner loop has used up its attempts. Defaults to false.
///   - predicate: returns whether an error is transient. By default every error is. `CancellationError` is never
///     retried.
///   - onRetry: is called before each delay, with the attempt that failed, its error and the delay. It is not called
///     where no retry follows, such as one that the timeout leaves no time for.
///   - operation: one attempt.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@inlinable
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    _ backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    random: RandomSource? = nil,
    retriesExhausted: Bool = false,
    while predicate: (any Error) async -> Bool = { _ in true },
    onRetry: ((Attempt, any Error, Duration) async -> Void)? = nil,
    operation: (Attempt) async throws -> Success
) async throws -> Success where C.Duration == Duration {
    let remaining = timeout?.clampedToTimeout
    let deadline = remaining.map { ClockDeadline(after: $0, clock) }
    var loop: OuterRetry?
    let outcome = await withRetryUnlessCancelled(
        remaining: remaining,
        timeLeft: { deadline?.timeLeft },
        waits: { await clock.waits(for: $0) },
        operation: { attempt -> Result<Success, any Error> in
            do {
                guard let loop else { return .success(try await operation(attempt)) }
                return .success(try await rerun(attempt, loop, operation))
            } catch {
                return .failure(error)
            }
        },
        decide: { attempt, outcome in
            guard case .failure(let error) = outcome else { return .finish(outcome, .succeeded) }
            if let reason = nonRetryableReason(for: error, includingExhausted: retriesExhausted) {
                return .finish(outcome, reason)
            }
            let isTransient = await predicate(error)
            // The pause ends the call: after a cancellation it has no error of an attempt (rule R9).
            if Task.isCancelled { return .retry(after: .zero, .cancelled) }
            guard isTransient else { return .finish(outcome, .finalOutcome) }
            guard let scheduled = backoff.delay(after: attempt, sampledFrom: random) else {
                return .finish(outcome, .attemptsUsedUp)
            }
            let delay = retryDelay(scheduled, after: error)
            loop = keepingKey(of: error, in: loop)
            // No retry follows where the deadline forbids the delay, or the task was cancelled.
            if let onRetry, !Task.isCancelled, deadline.map({ delay < $0.timeLeft }) ?? true {
                await onRetry(attempt, error, delay)
            }
            return .retry(after: delay, .transientError)
        },
        onTimeout: { _, outcome, _ in outcome }
    )
    guard let outcome else { throw CancellationError() }
    return try outcome.get()
}

/// Runs a throwing operation until it succeeds, the schedule ends, or its error is not transient.
///
/// - SeeAlso: the form whose operation takes an ``Attempt``, which documents the parameters.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@inlinable
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    _ backoff: Backoff = .standard,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    random: RandomSource? = nil,
    retriesExhausted: Bool = false,
    while predicate: (any Error) async -> Bool = { _ in true },
    onRetry: ((Attempt, any Error, Duration) async -> Void)? = nil,
    operation: () async throws -> Success
) async throws -> Success where C.Duration == Duration {
    try await withRetry(
        backoff,
        timeout: timeout,
        clock: clock,
        random: random,
        retriesExhausted: retriesExhausted,
        while: predicate,
        onRetry: onRetry
    ) { (_: Attempt) in try await operation() }
}

/// Runs a throwing operation with up to `maxRetryCount` retries on the standard schedule.
///
/// `withRetry(3) { … }` makes at most 4 attempts, with the delays of ``Backoff/standard``. For retries without a delay
/// pass `.immediately(maxAttempts: 4)` instead of the number. A negative count counts as 0.
///
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@inlinable
public nonisolated(nonsending) func withRetry<Success>(
    _ maxRetryCount: Int,
    operation: () async throws -> Success
) async throws -> Success {
    try await withRetry(Backoff.standard.limited(maxRetryCount: maxRetryCount), operation: operation)
}
