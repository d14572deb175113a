// SPDX-License-Identifier: Apache-2.0
/// Runs an operation until its value meets a condition.
///
/// ```swift
/// let job = try await poll(
///     .constant(delay: .seconds(1), maxAttempts: 60),
///     timeout: .seconds(90)
/// ) {
///     try await client.job(id)
/// } until: { job in
///     job.state == .done
/// }
/// ```
///
/// It runs on the caller's actor. An error of the operation ends it; to retry one, use `withRetry` within the
/// operation.
///
/// - Parameters:
///   - schedule: the delays between two values, and how many there are at most.
///   - timeout: the time for all of it. It ends delays, not a running operation. Defaults to nil: no limit.
///   - clock: the clock for the delays. Defaults to a monotonic one with one timer for all delays.
///   - random: the source of jitter. Defaults to ``RandomSource/shared``.
///   - operation: returns one value.
///   - condition: returns whether a value is the one that is waited for.
/// - Returns: the first value that meets the condition.
/// - Throws: ``Backoff/PollingEnded`` where the schedule or the time ended before, the error of a closure, or
///   `CancellationError` if the task was cancelled.
@inlinable
public nonisolated(nonsending) func poll<Value, C: Clock>(
    _ schedule: Backoff,
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    random: RandomSource? = nil,
    operation: () async throws -> Value,
    until condition: (Value) async throws -> Bool
) async throws -> Value where C.Duration == Duration {
    let outcome = try await withRetry(
        timeout: timeout,
        clock: clock,
        operation: { _ -> Result<Value?, any Error> in
            do {
                let value = try await operation()
                return .success(try await condition(value) ? value : nil)
            } catch {
                return .failure(error)
            }
        },
        decide: { attempt, outcome in
            guard case .success(nil) = outcome else { return .finish(outcome, .succeeded) }
            // The pause ends the call (rule R9).
            if Task.isCancelled { return .retry(after: .zero, .cancelled) }
            guard let delay = schedule.delay(after: attempt, sampledFrom: random) else {
                return .finish(
                    .failure(Backoff.PollingEnded(attempts: attempt.number, .attemptsUsedUp)),
                    .attemptsUsedUp
                )
            }
            return .retry(after: delay, .conditionNotMet)
        },
        onTimeout: { attempt, _, _ in .failure(Backoff.PollingEnded(attempts: attempt.number, .deadlineExceeded)) }
    )
    guard let value = try outcome.get() else { throw CancellationError() }
    return value
}

extension Backoff {
    /// No value met the condition of `poll` before its schedule or time ended.
    ///
    /// No outer loop of this package retries it (rule R24).
    public struct PollingEnded: RetryTerminalError, Hashable, CustomStringConvertible {
        /// The number of values that did not meet the condition.
        public let attempts: Int
        /// What ended: ``RetryReason/attemptsUsedUp`` or ``RetryReason/deadlineExceeded``.
        public let reason: RetryReason
        /// True: all attempts or all of the time are used up.
        public var retriesAreExhausted: Bool { true }
        /// What happened.
        public var description: String { "the condition was not met by \(attempts) values: \(reason)" }

        @usableFromInline
        init(attempts: Int, _ reason: RetryReason) {
            self.attempts = attempts
            self.reason = reason
        }
    }
}

extension RetryReason {
    /// The value did not meet the condition that is waited for.
    public static let conditionNotMet = RetryReason(rawValue: "conditionNotMet")
}
