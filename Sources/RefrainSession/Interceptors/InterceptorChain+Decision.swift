internal import RefrainCore

extension InterceptorChain {
    /// Whether the decision on a response needs no body: policies look at its head, other retriers may look further.
    func decidesByHead(_ strategy: (any RetryStrategy)?) -> Bool {
        guard strategy == nil || strategy is RetryPolicy else { return false }
        return retriers.allSatisfy { $0 is RetryPolicy || $0 is ConnectionLostRetryPolicy }
    }

    /// Returns what follows an attempt: the decision of the first retrier that does not return `.doNotRetry`.
    ///
    /// A retrier that is a strategy, such as `RetryPolicy`, gives its whole decision, also to a retrier that wraps it.
    /// The delays of all others are held against the rules by the retry stage. A strategy of the request's own takes
    /// the place of the policies. Within an attempt of an outer retry stage only replays are decided on.
    func decide(
        _ outcome: AttemptOutcome,
        in context: RetryContext,
        for request: Request,
        _ strategy: (any RetryStrategy)?
    ) async -> RetryDecision {
        let poll = RetrierPoll(self, outcome, context, request, strategy)
        if poll.begins() { await poll.ask() }
        return poll.result()
    }
}

/// The decision of a retrier of this library, for the retrier that wraps it.
///
/// A ``RetryResult`` has a delay only. A wrapper may return another delay; the rest of the decision is kept.
final class PendingDecision: Sendable {
    @TaskLocal private static var current: PendingDecision?

    private struct State {
        var decision: RetryDecision?
        var free: (any FreeRetry)?
        var isImplemented = true
    }

    private let state = Locked(State())

    /// Whether the retrier implements its method.
    var isImplemented: Bool { state.withLock { $0.isImplemented } }

    /// Runs the question to a retrier.
    func collect(_ question: () async -> RetryResult) async -> RetryResult {
        await Self.$current.withValue(self, operation: question)
    }

    /// Keeps a policy's decision; of several the last one counts.
    static func note(_ decision: RetryDecision) { current?.state.withLock { $0 = State(decision: decision) } }

    /// Keeps the retrier whose retry is not counted; of several the last one counts.
    static func note(_ free: any FreeRetry) { current?.state.withLock { $0 = State(free: free) } }

    /// Keeps that an interceptor does not implement the method, so that its `.doNotRetry` is no decision.
    static func noteNotImplemented() { current?.state.withLock { $0.isImplemented = false } }

    /// Returns the decision that a delay stands for.
    @inline(never)
    func decision(after delay: Duration, _ free: (any FreeRetry)?) -> RetryDecision {
        let noted = state.withLock { $0 }
        var decision = noted.decision?.withDelay(delay) ?? .retry(after: delay)
        guard let free = noted.free ?? free, case .retry = decision.action else { return decision }
        decision.reason = free.retryReason
        decision.rules.formUnion(free.rules)
        decision.isFree = true
        decision.drawsOnBudget = free.drawsOnBudget
        return decision
    }
}

/// A retrier whose retries are not counted, because something has changed in between.
protocol FreeRetry: RequestRetrier {
    /// The reason in the record.
    var retryReason: RetryReason { get }
    /// The rules that require the retry.
    var rules: Rules { get }
    /// Whether the retries draw on the budget; replays after a refresh of credentials do not (rule R23).
    var drawsOnBudget: Bool { get }
}

extension FreeRetry {
    /// Requests an attempt that is not counted, also if a retrier wraps this one and returns its result.
    func retryFreely() -> RetryResult {
        PendingDecision.note(self)
        return .retry
    }
}
