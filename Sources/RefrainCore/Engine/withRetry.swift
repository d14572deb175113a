// SPDX-License-Identifier: Apache-2.0
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
///   - decide: returns what follows an attempt with this outcome. It may change the outcome: with a `timeout` the loop
///     keeps it over the delay, so what holds a resource, such as a stream, is taken out of it here.
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
    decide: (Attempt, inout Outcome) async -> Attempt.Step<Outcome>,
    onTimeout: (Attempt, Outcome, Duration) -> Outcome
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    let remaining = timeout?.clampedToTimeout
    let deadline = remaining.map { ClockDeadline(after: $0, clock) }
    return try await withRetry(
        timeLeft: { deadline?.timeLeft },
        clock: clock,
        operation: operation,
        decide: decide,
        onTimeout: onTimeout
    )
}

/// As ``withRetry(timeout:clock:operation:decide:onTimeout:)``, with a deadline that an attempt may change.
///
/// - Parameter timeLeft: returns the time left now; nil: no limit.
@inlinable
@inline(__always)
package nonisolated(nonsending) func withRetry<Outcome, C: Clock>(
    timeLeft: () -> Duration?,
    clock: C,
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, inout Outcome) async -> Attempt.Step<Outcome>,
    onTimeout: (Attempt, Outcome, Duration) -> Outcome
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    let outcome = await withRetryUnlessCancelled(
        remaining: timeLeft(),
        timeLeft: timeLeft,
        waits: { await clock.waits(for: $0) },
        operation: operation,
        decide: decide,
        onTimeout: onTimeout
    )
    guard let outcome else { throw CancellationError() }
    return outcome
}

/// Runs an operation, and runs it again while `decide` returns `.retry`; past the deadline it returns the last outcome.
///
/// - SeeAlso: ``withRetry(timeout:clock:operation:decide:onTimeout:)``, which documents the parameters.
@inlinable
public nonisolated(nonsending) func withRetry<Outcome, C: Clock>(
    timeout: Duration? = nil,
    clock: C = TimerClock(),
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, inout Outcome) async -> Attempt.Step<Outcome>
) async throws(CancellationError) -> Outcome where C.Duration == Duration {
    try await withRetry(timeout: timeout, clock: clock, operation: operation, decide: decide) { _, outcome, _ in
        outcome
    }
}

extension Attempt {
    /// What follows an attempt of an operation, as the `decide` closure of `withRetry` returns it.
    public enum Step<Outcome> {
        /// The call ends with this outcome.
        case finish(Outcome, RetryReason)

        /// Another attempt follows after a delay.
        ///
        /// - `after`: the delay. Clamped to zero … `Duration.longestDelay`.
        /// - `isFree`: whether the next attempt does not count towards the limit (see ``Attempt/countedAttempts``).
        case retry(after: Duration, RetryReason, isFree: Bool = false)
    }
}

extension Attempt.Step: Sendable where Outcome: Sendable {}

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
nonisolated(nonsending) func withRetryUnlessCancelled<Outcome>(
    remaining: Duration?,
    timeLeft: () -> Duration?,
    waits: (Duration) async -> Bool,
    operation: (Attempt) async -> Outcome,
    decide: (Attempt, inout Outcome) async -> Attempt.Step<Outcome>,
    onTimeout: (Attempt, Outcome, Duration) -> Outcome
) async -> Outcome? {
    var attempt = Attempt(number: 1, countedAttempts: 1, remaining: remaining)
    var last: Outcome?
    await withAttempts {
        last = await operation(attempt)
    } decide: {
        guard var outcome = last.take() else { return false }
        switch await decide(attempt, &outcome) {
        case .finish(let outcome, _):
            last = outcome
            return false
        case .retry(let delay, _, let isFree):
            // Without a deadline the outcome is not needed after the delay, so the frame does not keep it.
            if timeLeft() != nil { last = outcome }
            _ = consume outcome
            let pause = await attempt.pause(for: delay, isFree: isFree, timeLeft: timeLeft, waits: waits)
            switch (pause, last.take()) {
            case (.ends(let next), _):
                attempt = next
                return true
            case (.reachesDeadline(let delay), let outcome?):
                last = onTimeout(attempt, outcome, delay)
                return false
            default: return false
            }
        }
    }
    return last
}

/// The loop itself: makes an attempt, and another one while `decide` returns true; none if the task is cancelled.
///
/// What is known of the attempts is the caller's to keep. The frame of a task has room for every variable that is
/// needed after an `await`, also for one that only few attempts need, and that for as long as each attempt lasts.
@inlinable
@inline(__always)
nonisolated(nonsending) func withAttempts(
    _ operation: () async -> Void,
    decide: () async -> Bool
) async {
    var continues = !Task.isCancelled
    while continues {
        await operation()
        continues = await decide()
    }
}

/// The result of the delay between two attempts.
@usableFromInline
enum RetryPause: Sendable {
    /// The delay has ended, and this attempt follows.
    case ends(Attempt)
    /// The deadline leaves no time for a delay of this length.
    case reachesDeadline(Duration)
    /// The task was cancelled.
    case cancelled
}

extension Attempt {
    /// Waits for the attempt after this one.
    ///
    /// - Parameters:
    ///   - requested: the delay; clamped to zero … `Duration.longestDelay`.
    ///   - isFree: whether the next attempt does not count towards the limit.
    ///   - timeLeft: returns the time left now; nil: no limit.
    ///   - waits: waits for a delay; returns false if the task was cancelled.
    @inlinable
    @inline(__always)
    nonisolated(nonsending) func pause(
        for requested: Duration,
        isFree: Bool,
        timeLeft: () -> Duration?,
        waits: (Duration) async -> Bool
    ) async -> RetryPause {
        // Without a delay this is also the check before the next attempt.
        guard !Task.isCancelled else { return .cancelled }
        let delay = requested > .zero ? requested.clampedToDelay : .zero
        var remaining = timeLeft()
        if let remaining, delay >= remaining { return .reachesDeadline(delay) }
        if delay > .zero {
            guard await waits(delay), !Task.isCancelled else { return .cancelled }
            // A delay can last longer than requested, on a busy machine or one that was suspended.
            if remaining != nil { remaining = timeLeft() }
            if let remaining, remaining <= .zero { return .reachesDeadline(delay) }
        }
        return .ends(next(after: delay, isFree: isFree, remaining: remaining))
    }
}

/// When a call with a timeout ends, on the clock of its delays.
///
/// An object, because an asynchronous function keeps room in its frame for every value whose size is known only at run
/// time, as that of an instant of the standard library's clocks.
@usableFromInline
final class ClockDeadline<C: Clock> where C.Duration == Duration {
    private let clock: C
    private let instant: C.Instant

    @usableFromInline
    init(after duration: Duration, _ clock: C) {
        self.clock = clock
        instant = clock.now.advanced(by: duration)
    }

    @usableFromInline var timeLeft: Duration { clock.now.duration(to: instant) }
}
