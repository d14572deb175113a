/// Runs an operation, and runs it again for as long as `decide` asks for it.
///
/// This function is the only loop over tries in the package. It knows nothing about what is tried, nor why; it
/// keeps the time, the count and the cancellation. The other forms of `withRetry` stand on it.
///
/// It runs on the caller's actor, so that both closures may touch the caller's state. It checks for cancellation before
/// each attempt, after each decision and while it waits. No attempt but the first begins at or after the deadline:
/// where a wait would reach it, `giveUp` has the last word at once, without the wait. An operation that succeeds at
/// its first attempt costs no clock read (unless there is a deadline), no random number and no allocation.
///
/// - Parameters:
///   - deadline: the time for all attempts and waits together, from now. Nil: no limit. It ends waits, not a
///     running attempt: hand ``Attempt/remaining`` to what the operation calls.
///   - clock: the clock that is waited on; the shared timer unless told otherwise.
///   - operation: one attempt. Its outcome is any value: a result, a response, an enumeration.
///   - decide: looks at an attempt and its outcome, and says what follows.
///   - giveUp: the last word where the deadline forbids the wait that `decide` asked for. It is handed that wait.
/// - Returns: the outcome that the last decision finished with.
/// - Throws: `CancellationError` if the task was cancelled.
@inlinable
@inline(__always)
public nonisolated(nonsending) func withRetry<Outcome, C: Clock>(
    deadline: Duration? = nil,
    clock: C = TimerClock(),
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, Outcome) async -> RetryDecision<Outcome>,
    giveUp: (Attempt, Outcome, Duration) -> Outcome
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    let outcome = await withRetryUnlessCancelled(
        deadline: deadline,
        clock: clock,
        operation: operation,
        decide: decide,
        giveUp: giveUp
    )
    guard let outcome else { throw CancellationError() }
    return outcome
}

/// The loop of ``withRetry(deadline:clock:operation:decide:giveUp:)``, which is nil where the task was cancelled.
///
/// The size of a `CancellationError` is only known while the program runs, so where one may be thrown it takes a place
/// beside the frame, which whoever waits would keep.
@inlinable
@inline(__always)
package nonisolated(nonsending) func withRetryUnlessCancelled<Outcome, C: Clock>(
    deadline: Duration?,
    clock: C,
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, Outcome) async -> RetryDecision<Outcome>,
    giveUp: (Attempt, Outcome, Duration) -> Outcome
) async -> Outcome? where C.Duration == Duration {
    // Every value that lives across an `await` is kept by all who wait, so the beginning is not one of them.
    var end: C.Instant?
    var remaining: Duration?
    if let deadline {
        remaining = deadline.clampedToDeadline
        end = clock.now.advanced(by: deadline.clampedToDeadline)
    }
    var attempt = Attempt(number: 1, tries: 1, remaining: remaining)
    guard !Task.isCancelled else { return nil }
    while true {
        let outcome = await operation(attempt)
        switch await decide(attempt, outcome) {
        case .finish(let outcome, _):
            return outcome
        case .retry(let wanted, _, let isFree):
            // Where there is no wait, this is also the check before the next attempt.
            guard !Task.isCancelled else { return nil }
            let delay = wanted > .zero ? wanted.clampedToDelay : .zero
            if deadline != nil, let end {
                let left = clock.now.duration(to: end)
                guard delay < left else { return giveUp(attempt, outcome, delay) }
                remaining = left
            }
            if delay > .zero {
                // Where there is no deadline, nobody asks for the outcome again: the wait does not keep it.
                let last: Outcome? = deadline == nil ? nil : outcome
                _ = consume outcome
                guard await clock.waits(for: delay), !Task.isCancelled else { return nil }
                // A wait can last longer than it was asked to, on a busy machine or one that was suspended.
                if deadline != nil, let end, let last {
                    let left = clock.now.duration(to: end)
                    guard left > .zero else { return giveUp(attempt, last, delay) }
                    remaining = left
                }
            }
            attempt = attempt.next(after: delay, isFree: isFree, remaining: remaining)
        }
    }
}

/// Runs an operation, and runs it again for as long as `decide` asks for it; past the deadline the last outcome stands.
///
/// - SeeAlso: ``withRetry(deadline:clock:operation:decide:giveUp:)``, which this is a short form of.
@inlinable
public nonisolated(nonsending) func withRetry<Outcome, C: Clock>(
    deadline: Duration? = nil,
    clock: C = TimerClock(),
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, Outcome) async -> RetryDecision<Outcome>
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    try await withRetry(deadline: deadline, clock: clock, operation: operation, decide: decide) { _, outcome, _ in
        outcome
    }
}
