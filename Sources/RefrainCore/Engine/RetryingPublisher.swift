// SPDX-License-Identifier: Apache-2.0
#if canImport(Combine)
public import Combine

extension Publisher {
    /// Subscribes to this publisher again after a failure, on a schedule, while the error is one that `predicate`
    /// accepts.
    ///
    /// Like Combine's `retry(_:)`, it starts the publisher from its beginning, so that elements can come twice. The
    /// waits and the count are those of `withRetry`; cancelling the subscription ends a wait at once. Elements come on
    /// whatever thread the publisher delivers them; put `receive(on:)` after this where that matters.
    ///
    /// - Parameters:
    ///   - backoff: when to start again, and how often.
    ///   - clock: the clock that is waited on.
    ///   - predicate: which errors are transient. `CancellationError` is never retried.
    public func retry<C: Clock>(
        _ backoff: Backoff,
        clock: C = TimerClock(),
        while predicate: @escaping @Sendable (any Error) -> Bool = { _ in true }
    ) -> Publishers.BackoffRetry<Self, C> where C.Duration == Duration {
        Publishers.BackoffRetry(upstream: self, backoff: backoff, clock: clock, predicate: predicate)
    }
}

extension Publishers {
    /// A publisher that starts another one again after a failure.
    ///
    /// It is made by `retry(_:clock:while:)`.
    public struct BackoffRetry<Upstream: Publisher, C: Clock>: Publisher where C.Duration == Duration {
        /// What the other publisher delivers.
        public typealias Output = Upstream.Output
        /// What the other publisher fails with.
        public typealias Failure = Upstream.Failure

        let upstream: Upstream
        let backoff: Backoff
        let clock: C
        let predicate: @Sendable (any Error) -> Bool

        /// Connects a subscriber; the first request for elements starts the other publisher.
        public func receive<S: Subscriber>(subscriber: S) where S.Input == Output, S.Failure == Failure {
            let subscription = RetrySubscription(
                upstream: AnyPublisher(upstream),
                downstream: AnySubscriber(subscriber),
                backoff: backoff,
                clock: clock,
                predicate: predicate
            )
            subscriber.receive(subscription: subscription)
        }
    }
}

/// One subscriber's way through all starts of the upstream publisher.
private final class RetrySubscription<Output, Failure: Error, C: Clock>: Subscription, @unchecked Sendable
where C.Duration == Duration {
    // @unchecked Sendable: what changes is behind the lock. The publisher and the subscriber never change, and Combine
    // lets both be called from any thread as long as the calls follow each other: one start of the upstream publisher
    // ends before the next begins, and the completion comes after the last.
    typealias Completion = Subscribers.Completion<Failure>

    private let upstream: AnyPublisher<Output, Failure>
    private let downstream: AnySubscriber<Output, Failure>
    private let backoff: Backoff
    private let clock: C
    private let predicate: @Sendable (any Error) -> Bool
    private let state = Locked(State())

    private struct State {
        /// What the subscriber has asked for and not got yet, over all starts.
        var demand = Subscribers.Demand.none
        var upstream: (any Subscription)?
        var ended: CheckedContinuation<Completion, Never>?
        var task: Task<Void, Never>?
        var isCancelled = false
    }

    init(
        upstream: AnyPublisher<Output, Failure>,
        downstream: AnySubscriber<Output, Failure>,
        backoff: Backoff,
        clock: C,
        predicate: @escaping @Sendable (any Error) -> Bool
    ) {
        self.upstream = upstream
        self.downstream = downstream
        self.backoff = backoff
        self.clock = clock
        self.predicate = predicate
    }

    func request(_ demand: Subscribers.Demand) {
        let upstream = state.withLock { state -> (any Subscription)? in
            guard !state.isCancelled else { return nil }
            state.demand += demand
            if state.task == nil, state.demand > .none { state.task = Task { await self.run() } }
            return state.upstream
        }
        upstream?.request(demand)
    }

    func cancel() {
        let (upstream, ended, task) = state.withLock { state in
            state.isCancelled = true
            return (state.upstream.take(), state.ended.take(), state.task)
        }
        task?.cancel()
        upstream?.cancel()
        ended?.resume(returning: .finished)
    }

    private func run() async {
        let completion = try? await withRetry(
            clock: clock,
            operation: { _ in await start() },
            decide: decide
        )
        guard let completion, !state.withLock({ $0.isCancelled }) else { return }
        downstream.receive(completion: completion)
    }

    private func decide(_ attempt: Attempt, _ completion: inout Completion) -> Attempt.Step<Completion> {
        guard case .failure(let error) = completion else { return .finish(completion, .succeeded) }
        if let reason = nonRetryableReason(for: error, includingExhausted: false) { return .finish(completion, reason) }
        guard predicate(error) else { return .finish(completion, .finalOutcome) }
        guard let scheduled = backoff.delay(after: attempt) else { return .finish(completion, .attemptsUsedUp) }
        return .retry(after: retryDelay(scheduled, after: error), .transientError)
    }

    /// Starts the upstream publisher, and returns when it has ended.
    private func start() async -> Completion {
        await withCheckedContinuation { continuation in
            let isCancelled = state.withLock { state in
                if !state.isCancelled { state.ended = continuation }
                return state.isCancelled
            }
            guard !isCancelled else { return continuation.resume(returning: .finished) }
            upstream.subscribe(Start(self))
        }
    }

    /// The subscriber of one start.
    private final class Start: Subscriber {
        let retry: RetrySubscription

        init(_ retry: RetrySubscription) { self.retry = retry }

        func receive(subscription: any Subscription) {
            let demand = retry.state.withLock { state -> Subscribers.Demand? in
                guard !state.isCancelled else { return nil }
                state.upstream = subscription
                return state.demand
            }
            guard let demand else { return subscription.cancel() }
            if demand > .none { subscription.request(demand) }
        }

        func receive(_ input: Output) -> Subscribers.Demand {
            let isCancelled = retry.state.withLock { state in
                if state.demand > .none { state.demand -= 1 }
                return state.isCancelled
            }
            guard !isCancelled else { return .none }
            let more = retry.downstream.receive(input)
            retry.state.withLock { $0.demand += more }
            return more
        }

        func receive(completion: Completion) {
            let ended = retry.state.withLock { state in
                state.upstream = nil
                return state.ended.take()
            }
            ended?.resume(returning: completion)
        }
    }
}
#endif
