internal import RefrainCore

extension InterceptorChain {
    /// Whether the decision on a response needs no body: policies look at its head, other retriers may look further.
    func decidesByHead(_ strategy: (any RetryStrategy)?) -> Bool {
        guard strategy == nil || strategy is RetryPolicy else { return false }
        return retriers.allSatisfy { $0 is RetryPolicy || $0 is ConnectionLostRetryPolicy }
    }

    /// Returns what follows an attempt: the decision of the first retrier that answers other than `.doNotRetry`.
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
        guard let failure = request.failure(of: outcome) else {
            // Retriers are asked about failures; a strategy is asked about every outcome, because it may poll.
            guard let strategy, !context.isNested else { return .finish(.succeeded) }
            return await strategy.decide(outcome.result, in: context)
        }
        request.publish(failure, of: outcome, in: context)
        guard let session = request.session else { return .finish(.finalFailure) }
        guard !failure.isCancellation else { return .finish(.cancelled, [.cancellation]) }
        var refusal: RetryDecision?
        var hasDeclined = false
        for retrier in retriers {
            if let policy = retrier as? any RetryStrategy {
                guard strategy == nil, !context.isNested else { continue }
                let decision = await policy.decide(outcome.result, in: context)
                guard case .finish = decision.action else { return decision }
                refusal = refusal ?? decision
                continue
            }
            let free = retrier as? any FreeRetry
            if context.isNested, free?.drawsOnBudget != false { continue }
            let pending = PendingDecision()
            let answer = await pending.collect { await retrier.retry(request, for: session, dueTo: failure) }
            switch pending.isImplemented ? answer : request.answer(ofAbsent: retrier) {
            case .doNotRetry: hasDeclined = hasDeclined || (free == nil && pending.isImplemented)
            case .doNotRetryWithError(let error):
                let name = "\(type(of: retrier))"
                var decision = RetryDecision.finish(.strategyDeclined)
                decision.error = RefrainError.requestRetryFailed(retryError: error, originalError: failure, by: name)
                return decision
            case .retry: return pending.decision(after: .zero, free)
            case .retryWithDelay(let delay): return pending.decision(after: delay, free)
            }
        }
        guard !context.isNested else { return .finish(.nested, [.nesting]) }
        if let strategy { return await strategy.decide(outcome.result, in: context) }
        // A retrier of the caller's own that declined has decided for outer loops, too (rule R24).
        if hasDeclined { return .finish(.strategyDeclined, refusal?.rules ?? []) }
        if let refusal, refusal.reason != .succeeded { return refusal }
        if hasDefaultPolicy, refusal == nil {
            // Within `Task.retrying` the retries are the task's.
            guard !OuterRetry.isInside else { return .finish(.nested, [.nesting]) }
            let decision = RetryPolicy.recommended.decide(in: context)
            if decision.reason != .succeeded { return decision }
        }
        if case .success(let response) = outcome.result, response.status.rawValue < 400 {
            return .finish(.validationFailed)
        }
        return .finish(.noStrategy)
    }
}

extension Request {
    /// The answer of an interceptor without a retrying half: an error if it has no adapting half, either.
    fileprivate func answer(ofAbsent interceptor: any RequestRetrier) -> RetryResult {
        let type = type(of: interceptor)
        let isEmpty = state.withLock { $0.cold?.absentAdapters.contains(ObjectIdentifier(type)) == true }
        guard isEmpty else { return .doNotRetry }
        return .doNotRetryWithError(CompletionForm.neither("adapt(_:for:) or retry(_:for:dueTo:)", of: type))
    }
}

/// What a retrier of this library decided while a retrier that wraps it is asked.
///
/// A ``RetryResult`` has room for a delay only. A wrapper may answer with another delay; all else stands.
final class PendingDecision: Sendable {
    @TaskLocal private static var current: PendingDecision?

    private struct State {
        var decision: RetryDecision?
        var free: (any FreeRetry)?
        var isImplemented = true
    }

    private let state = Locked(State())

    /// Whether the retrier that was asked implements its method.
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
    /// The rules that ask for the retry.
    var rules: Rules { get }
    /// Whether the retries draw on the budget; replays after a refresh of credentials do not (rule R23).
    var drawsOnBudget: Bool { get }
}

extension FreeRetry {
    /// Asks for an attempt that is not counted, also where a retrier wraps this one and returns its answer.
    func retryFreely() -> RetryResult {
        PendingDecision.note(self)
        return .retry
    }
}
