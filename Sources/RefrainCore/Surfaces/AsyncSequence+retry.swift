extension AsyncSequence {
    /// Starts this sequence again after a failure, up to `maxRetryCount` times.
    ///
    /// Like Combine's `retry(_:)`, the sequence starts from its beginning, so that elements can come twice; the
    /// count is for the whole iteration. Waits are those of ``Backoff/standard``. A negative count counts as 0. The
    /// package's own sequences that can be read only once end with their first error.
    @inlinable
    public func retry(_ maxRetryCount: Int) -> AsyncRetrySequence<Self, TimerClock> {
        let backoff = try? Backoff.standard.limited(toRetries: Swift.max(0, maxRetryCount))
        return AsyncRetrySequence(self, backoff: backoff ?? .never, clock: TimerClock()) { _ in true }
    }

    /// Starts this sequence again after a failure, on a schedule, while the error is one that `predicate` accepts.
    ///
    /// - Parameters:
    ///   - backoff: when to start again, and how often in the whole iteration.
    ///   - clock: the clock that is waited on.
    ///   - predicate: which errors are transient. `CancellationError` is never retried.
    @inlinable
    public func retry<C: Clock>(
        _ backoff: Backoff,
        clock: C = TimerClock(),
        while predicate: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> AsyncRetrySequence<Self, C> where C.Duration == Duration {
        AsyncRetrySequence(self, backoff: backoff, clock: clock, predicate: predicate)
    }
}

/// A sequence that starts its base again after a failure.
///
/// It is made by `retry(_:)` and its longer form on any asynchronous sequence.
public struct AsyncRetrySequence<Base: AsyncSequence, C: Clock>: AsyncSequence where C.Duration == Duration {
    /// What the base delivers.
    public typealias Element = Base.Element
    /// The base's last error, or `CancellationError`.
    public typealias Failure = any Error

    @usableFromInline let base: Base
    @usableFromInline let backoff: Backoff
    @usableFromInline let clock: C
    @usableFromInline let predicate: @Sendable (any Error) -> Bool

    @usableFromInline
    init(_ base: Base, backoff: Backoff, clock: C, predicate: @escaping @Sendable (any Error) -> Bool) {
        self.base = base
        self.backoff = backoff
        self.clock = clock
        self.predicate = predicate
    }

    /// Starts the base for the first time.
    @inlinable
    public func makeAsyncIterator() -> Iterator {
        Iterator(sequence: self, current: base.makeAsyncIterator())
    }

    /// Delivers the elements of one start of the base after the other.
    public struct Iterator: AsyncIteratorProtocol {
        @usableFromInline let sequence: AsyncRetrySequence
        @usableFromInline var current: Base.AsyncIterator?
        /// The attempt that is under way; it goes on counting across elements.
        @usableFromInline var attempt = Attempt.first

        @usableFromInline
        init(sequence: AsyncRetrySequence, current: Base.AsyncIterator) {
            self.sequence = sequence
            self.current = current
        }

        /// The next element; starts the base again, after a wait, where it fails.
        @inlinable
        public mutating func next() async throws -> Element? {
            try await next(isolation: #isolation)
        }

        /// The next element; starts the base again, after a wait, where it fails.
        @inlinable
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> Element? {
            guard var iterator = current.take() else { return nil }
            var attempt = self.attempt
            let sequence = sequence
            let outcome = try await withRetry(
                clock: sequence.clock,
                operation: { started -> Result<Element?, any Error> in
                    if started.number > 1 { iterator = sequence.base.makeAsyncIterator() }
                    do {
                        return .success(try await iterator.next(isolation: actor))
                    } catch {
                        return .failure(error)
                    }
                },
                decide: { _, outcome in
                    guard case .failure(let error) = outcome else { return .finish(outcome, .succeeded) }
                    if let reason = refusal(toRetry: error, includingExhausted: false) {
                        return .finish(outcome, reason)
                    }
                    guard sequence.predicate(error), canStartAgain(sequence.base) else {
                        return .finish(outcome, .finalOutcome)
                    }
                    guard let delay = sequence.backoff.delay(after: attempt) else {
                        return .finish(outcome, .triesUsedUp)
                    }
                    attempt = attempt.next(after: delay, isFree: false, remaining: nil)
                    return .retry(after: delay, .transientError)
                },
                giveUp: { _, outcome, _ in outcome }
            )
            let element = try outcome.get()
            self.attempt = attempt
            // After its end or its error a sequence stays at its end.
            if element != nil { current = iterator }
            return element
        }
    }
}

extension AsyncRetrySequence: Sendable where Base: Sendable {}
