/// Runs a throwing operation until it succeeds, its schedule ends, or its error is not worth another try.
///
/// ```swift
/// let settings = try await withRetry(.exponential(from: .milliseconds(100), maximumNumberOfAttempts: 4)) {
///     try await load()
/// }
/// ```
///
/// It runs on the caller's actor. The last error is thrown as it came.
///
/// - Parameters:
///   - backoff: when to try again, and how often. ``Backoff/standard`` unless told otherwise: 3 tries.
///   - deadline: the time for all attempts and waits together; nil: no limit.
///   - clock: the clock that is waited on.
///   - random: where jitter comes from.
///   - retriesExhausted: whether errors on which a loop further in has spent its tries are tried again, too.
///   - predicate: which errors are transient; all, unless told otherwise. `CancellationError` is never retried.
///   - operation: one attempt.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@inlinable
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    _ backoff: Backoff = .standard,
    deadline: Duration? = nil,
    clock: C = TimerClock(),
    random: RandomSource? = nil,
    retriesExhausted: Bool = false,
    while predicate: (any Error) async -> Bool = { _ in true },
    operation: (Attempt) async throws -> Success
) async throws -> Success where C.Duration == Duration {
    try await withRetry(
        deadline: deadline,
        clock: clock,
        operation: { attempt -> Result<Success, any Error> in
            do {
                return .success(try await operation(attempt))
            } catch {
                return .failure(error)
            }
        },
        decide: { attempt, outcome in
            guard case .failure(let error) = outcome else { return .finish(outcome, .succeeded) }
            if let reason = refusal(toRetry: error, includingExhausted: retriesExhausted) {
                return .finish(outcome, reason)
            }
            guard await predicate(error) else { return .finish(outcome, .finalOutcome) }
            guard let delay = backoff.delay(after: attempt, drawingFrom: random) else {
                return .finish(outcome, .triesUsedUp)
            }
            return .retry(after: delay, .transientError)
        },
        giveUp: { _, outcome, _ in outcome }
    ).get()
}

/// Runs a throwing operation until it succeeds, its schedule ends, or its error is not worth another try.
///
/// - SeeAlso: the form whose operation is handed its ``Attempt``, which documents the parameters.
/// - Throws: the error of the last attempt, or `CancellationError` if the task was cancelled.
@inlinable
public nonisolated(nonsending) func withRetry<Success, C: Clock>(
    _ backoff: Backoff = .standard,
    deadline: Duration? = nil,
    clock: C = TimerClock(),
    random: RandomSource? = nil,
    retriesExhausted: Bool = false,
    while predicate: (any Error) async -> Bool = { _ in true },
    operation: () async throws -> Success
) async throws -> Success where C.Duration == Duration {
    try await withRetry(
        backoff,
        deadline: deadline,
        clock: clock,
        random: random,
        retriesExhausted: retriesExhausted,
        while: predicate
    ) { (_: Attempt) in try await operation() }
}

/// Runs a throwing operation, and repeats it after a failure up to `maxRetryCount` times on the standard schedule.
///
/// `withRetry(3) { … }` makes 4 tries at most. The waits between them are those of ``Backoff/standard``; for
/// repetition without a wait, hand over `.immediately(maximumNumberOfAttempts: 4)` instead of the number.
///
/// - Throws: the error of the last attempt; `CancellationError` if the task was cancelled;
///   ``InvalidArgument`` for a negative count.
@inlinable
public nonisolated(nonsending) func withRetry<Success>(
    _ maxRetryCount: Int,
    operation: () async throws -> Success
) async throws -> Success {
    try await withRetry(Backoff.standard.limited(toRetries: maxRetryCount), operation: operation)
}

extension Backoff {
    /// The same schedule with so many repetitions after the first try.
    ///
    /// - Throws: ``InvalidArgument`` for a negative count.
    public func limited(toRetries maxRetryCount: Int) throws(InvalidArgument) -> Backoff {
        guard maxRetryCount >= 0 else {
            throw InvalidArgument("maxRetryCount", is: maxRetryCount, expected: "zero or more")
        }
        let (attempts, overflow) = maxRetryCount.addingReportingOverflow(1)
        return try limited(toAttempts: overflow ? .max : attempts)
    }
}
