/// Runs an operation, and runs it again while `decide` returns `.retry`.
///
/// This is the only loop over attempts in the package. It keeps time, counts attempts and checks for cancellation;
/// the closures decide. The other forms of `withRetry` call this one.
///
/// It runs on the caller's actor, so both closures can access the caller's state. It checks for cancellation before
/// each attempt, after each decision and during a delay. No attempt but the first begins at or after the deadline: if
/// a delay would reach it, `onTimeout` is called at once, without the delay. A first attempt that succeeds draws no
/// random number and, unless there is a timeout, reads no clock and allocates nothing.
///
/// - Parameters:
///   - timeout: the time for all attempts and delays together. Clamped to zero … 68 years. It ends delays, not a
///     running attempt: pass ``Attempt/remaining`` to what the operation calls. Defaults to nil: no limit.
///   - clock: the clock for the delays. Defaults to a monotonic one with one timer for all delays.
///   - operation: one attempt. Its outcome is any value: a result, a response, an enumeration.
///   - decide: returns what follows an attempt with this outcome.
///   - onTimeout: returns the outcome of the call where the deadline forbids the delay that `decide` returned, which
///     is the last argument.
/// - Returns: the outcome of the last decision.
/// - Throws: `CancellationError` if the task was cancelled.
@inlinable
@inline(__always)
public nonisolated(nonsending) func withRetry<Outcome, C: Clock>(
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, Outcome) async -> Attempt.Step<Outcome>,
    onTimeout: (Attempt, Outcome, Duration) -> Outcome
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    let remaining = timeout?.clampedToTimeout
    let deadline = remaining.map { ClockDeadline(after: $0, clock) }
    let outcome = await withRetryUnlessCancelled(
        remaining: remaining,
        timeLeft: { deadline?.timeLeft },
        waits: { await clock.waits(for: $0) },
        operation: operation,
        decide: decide,
        onTimeout: onTimeout
    )
    guard let outcome else { throw CancellationError() }
    return outcome
}

/// The loop of ``withRetry(timeout:clock:operation:decide:onTimeout:)``, which returns nil if the task was cancelled.
///
/// The size of a `CancellationError` is known only at run time, so a function that throws one keeps its storage beside
/// its frame for the whole delay. This form has none.
///
/// - Parameters:
///   - remaining: the time left when the call begins; nil: no limit.
///   - timeLeft: returns the time left now; nil: no limit.
///   - waits: waits for a delay; returns false if the task was cancelled.
@inlinable
@inline(__always)
package nonisolated(nonsending) func withRetryUnlessCancelled<Outcome>(
    remaining: Duration?,
    timeLeft: () -> Duration?,
    waits: (Duration) async -> Bool,
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, Outcome) async -> Attempt.Step<Outcome>,
    onTimeout: (Attempt, Outcome, Duration) -> Outcome
) async -> Outcome? {
    var attempt = Attempt(number: 1, countedAttempts: 1, remaining: remaining)
    guard !Task.isCancelled else { return nil }
    while true {
        let outcome = await operation(attempt)
        switch await decide(attempt, outcome) {
        case .finish(let outcome, _):
            return outcome
        case .retry(let requested, _, let isFree):
            // Without a delay this is also the check before the next attempt.
            guard !Task.isCancelled else { return nil }
            let delay = requested > .zero ? requested.clampedToDelay : .zero
            var remaining: Duration?
            if let left = timeLeft() {
                guard delay < left else { return onTimeout(attempt, outcome, delay) }
                remaining = left
            }
            if delay > .zero {
                // Without a deadline the outcome is not needed after the delay, so the frame does not keep it.
                let last: Outcome? = remaining == nil ? nil : outcome
                _ = consume outcome
                guard await waits(delay), !Task.isCancelled else { return nil }
                // A delay can last longer than requested, on a busy machine or one that was suspended.
                if let last, let left = timeLeft() {
                    guard left > .zero else { return onTimeout(attempt, last, delay) }
                    remaining = left
                }
            }
            attempt = attempt.next(after: delay, isFree: isFree, remaining: remaining)
        }
    }
}

/// Runs an operation, and runs it again while `decide` returns `.retry`; past the deadline it returns the last outcome.
///
/// - SeeAlso: ``withRetry(timeout:clock:operation:decide:onTimeout:)``, which documents the parameters.
@inlinable
public nonisolated(nonsending) func withRetry<Outcome, C: Clock>(
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, Outcome) async -> Attempt.Step<Outcome>
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    try await withRetry(timeout: timeout, clock: clock, operation: operation, decide: decide) { _, outcome, _ in
        outcome
    }
}
