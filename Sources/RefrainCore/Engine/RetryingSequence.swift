// SPDX-License-Identifier: Apache-2.0
extension AsyncSequence {
    /// Iterates this sequence again after a failure, up to `maxRetryCount` times.
    ///
    /// Like Combine's `retry(_:)` it starts from the beginning, so elements can be delivered twice. The count is for
    /// the whole iteration. The delays are those of ``Backoff/standard``. A negative count counts as 0. One-shot
    /// sequences of this package end with their first error.
    @inlinable
    public func retry(_ maxRetryCount: Int) -> Backoff.RetrySequence<Self> {
        retry(.standard.limited(maxRetryCount: maxRetryCount))
    }

    /// Iterates this sequence again after a failure, up to `maxRetryCount` times, each after the same delay.
    ///
    /// - Parameters:
    ///   - maxRetryCount: the number of retries in the whole iteration. A negative one counts as 0.
    ///   - delay: the delay before each retry. A negative one counts as zero.
    @inlinable
    public func retry(_ maxRetryCount: Int, delay: Duration) -> Backoff.RetrySequence<Self> {
        retry(.constant(delay: delay).limited(maxRetryCount: maxRetryCount))
    }

    /// Iterates this sequence again after a failure, up to `maxRetryCount` times, each after the same delay in seconds.
    ///
    /// - Parameters:
    ///   - maxRetryCount: the number of retries in the whole iteration. A negative one counts as 0.
    ///   - delay: the delay before each retry, in seconds. A negative one and NaN count as zero.
    @inlinable
    public func retry(_ maxRetryCount: Int, delay: Double) -> Backoff.RetrySequence<Self> {
        retry(maxRetryCount, delay: Duration.delay(seconds: delay))
    }

    /// Iterates this sequence again after a failure, on a schedule, while `predicate` returns true for the error.
    ///
    /// - Parameters:
    ///   - backoff: the delays, and the number of attempts in the whole iteration.
    ///   - clock: the clock for the delays. Defaults to the system's timer.
    ///   - predicate: returns whether an error is transient. By default every error is. `CancellationError` is never
    ///     retried.
    @inlinable
    public func retry(
        _ backoff: Backoff,
        clock: some Clock<Duration> = TimerClock(),
        while predicate: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> Backoff.RetrySequence<Self> {
        Backoff.RetrySequence(self, backoff: backoff, waits: { await clock.waits(for: $0) }, predicate: predicate)
    }
}

extension Backoff {
    /// A sequence that iterates its base again after a failure.
    ///
    /// Made by `retry(_:)` and its longer forms on any asynchronous sequence.
    public struct RetrySequence<Base: AsyncSequence>: AsyncSequence {
        /// The elements of the base.
        public typealias Element = Base.Element
        /// The last error of the base, or `CancellationError`.
        public typealias Failure = any Error

        @usableFromInline let base: Base
        @usableFromInline let backoff: Backoff
        /// Waits for a delay; returns false if the task was cancelled.
        @usableFromInline let waits: @Sendable (Duration) async -> Bool
        @usableFromInline let predicate: @Sendable (any Error) -> Bool

        @usableFromInline
        init(
            _ base: Base,
            backoff: Backoff,
            waits: @escaping @Sendable (Duration) async -> Bool,
            predicate: @escaping @Sendable (any Error) -> Bool
        ) {
            self.base = base
            self.backoff = backoff
            self.waits = waits
            self.predicate = predicate
        }

        /// Starts the first iteration of the base.
        @inlinable
        public func makeAsyncIterator() -> Iterator {
            Iterator(sequence: self, current: base.makeAsyncIterator())
        }

        /// Delivers the elements of one iteration of the base after the other.
        public struct Iterator: AsyncIteratorProtocol {
            @usableFromInline let sequence: RetrySequence
            @usableFromInline var current: Base.AsyncIterator?
            /// The current attempt.
            ///
            /// It counts across elements.
            @usableFromInline var attempt = Attempt.first
            /// The idempotency keys of the iterations that failed; nil: there are none.
            @usableFromInline var keys: OuterRetry?

            @usableFromInline
            init(sequence: RetrySequence, current: Base.AsyncIterator) {
                self.sequence = sequence
                self.current = current
            }

            /// Returns the next element.
            ///
            /// After a failure it waits and starts the base again.
            @inlinable
            public mutating func next() async throws -> Element? {
                try await next(isolation: #isolation)
            }

            /// Returns the next element.
            ///
            /// After a failure it waits and starts the base again.
            @inlinable
            public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
                guard var iterator = current.take() else { return nil }
                var (attempt, keys) = (self.attempt, self.keys)
                let sequence = sequence
                let outcome = await withRetryUnlessCancelled(
                    remaining: nil,
                    timeLeft: { nil },
                    waits: sequence.waits,
                    operation: { started -> Result<Element?, any Error> in
                        do {
                            guard let keys else {
                                if started.number > 1 { iterator = sequence.base.makeAsyncIterator() }
                                return .success(try await iterator.next(isolation: actor))
                            }
                            let element = try await rerun(attempt, keys) { _ in
                                if started.number > 1 { iterator = sequence.base.makeAsyncIterator() }
                                return try await iterator.next(isolation: actor)
                            }
                            return .success(element)
                        } catch {
                            return .failure(error)
                        }
                    },
                    decide: { _, outcome in
                        guard case .failure(let error) = outcome else { return .finish(outcome, .succeeded) }
                        if let reason = nonRetryableReason(for: error, includingExhausted: false) {
                            return .finish(outcome, reason)
                        }
                        let isTransient = sequence.predicate(error)
                        // The pause ends the iteration (rule R9).
                        if Task.isCancelled { return .retry(after: .zero, .cancelled) }
                        guard isTransient, canReplay(sequence.base) else {
                            return .finish(outcome, .finalOutcome)
                        }
                        guard let scheduled = sequence.backoff.delay(after: attempt) else {
                            return .finish(outcome, .attemptsUsedUp)
                        }
                        let delay = retryDelay(scheduled, after: error)
                        keys = keepingKey(of: error, in: keys)
                        attempt = attempt.next(after: delay, isFree: false, remaining: nil)
                        return .retry(after: delay, .transientError)
                    },
                    onTimeout: { _, outcome, _ in outcome }
                )
                guard let outcome else { throw CancellationError() }
                let element = try outcome.get()
                (self.attempt, self.keys) = (attempt, keys)
                // After its end or its error a sequence stays at its end.
                if element != nil { current = iterator }
                return element
            }
        }
    }
}

extension Backoff.RetrySequence: Sendable where Base: Sendable {}

/// A sequence that states whether it can be iterated again.
///
/// Any other sequence is assumed to be replayable. A second iteration of a one-shot sequence would fail after a delay,
/// and hide the first error.
package protocol ReplayableSequence {
    /// Whether a further iteration delivers elements.
    var canReplay: Bool { get }
}

/// Returns whether a sequence can be iterated again; true if it does not state it.
@usableFromInline
func canReplay(_ sequence: some AsyncSequence) -> Bool {
    (sequence as? any ReplayableSequence)?.canReplay ?? true
}
