internal import RefrainCore

/// One question to the retriers of a request: what follows an attempt.
///
/// An object, so that the frames of the asynchronous functions hold one reference: a task keeps the memory of its
/// largest frame until it ends, also while it waits for its next attempt.
final class RetrierPoll: @unchecked Sendable {
    // @unchecked Sendable: `refusal` and `hasDeclined` are changed by one task only.
    private let chain: InterceptorChain
    private let outcome: AttemptOutcome
    private let context: RetryContext
    private let request: Request
    private let session: Session?
    private let strategy: (any RetryStrategy)?
    /// The error of the attempt; nil where it succeeded.
    private let failure: RefrainError?
    /// The first decision of a policy that was against a retry.
    private var refusal: RetryDecision?
    /// Whether a retrier of the caller's own declined.
    private var hasDeclined = false
    /// The decision, once there is one.
    private var decision: RetryDecision?

    @inline(never)
    init(
        _ chain: InterceptorChain,
        _ outcome: AttemptOutcome,
        _ context: RetryContext,
        _ request: Request,
        _ strategy: (any RetryStrategy)?
    ) {
        self.chain = chain
        self.outcome = outcome
        self.context = context
        self.request = request
        self.strategy = strategy
        session = request.session
        failure = request.failure(of: outcome)
    }

    /// Whether retriers or a strategy decide; publishes the failure before they do.
    @inline(never)
    func begins() -> Bool {
        guard let failure else {
            // Retriers decide on failures; a strategy decides on every outcome, because it may poll.
            return strategy != nil && !context.isNested
        }
        request.publish(failure, of: outcome, in: context)
        guard session != nil, !failure.isCancellation else {
            decision = session == nil ? .finish(.finalFailure) : .finish(.cancelled, [.cancellation])
            return false
        }
        return true
    }

    /// Asks the retriers of a failed attempt in their order until one decides, then the request's strategy.
    func ask() async {
        if failure != nil {
            for retrier in chain.retriers {
                await ask(retrier)
                if decision != nil { return }
            }
        }
        if strategy != nil, !context.isNested { await askStrategy() }
    }

    /// Returns the decision.
    @inline(never)
    func result() -> RetryDecision {
        if let decision { return decision }
        guard failure != nil else { return .finish(.succeeded) }
        return context.isNested ? .finish(.nested, [.nesting]) : decisionWithoutRetrier()
    }

    @inline(never)
    private func ask(_ retrier: any RequestRetrier) async {
        if let policy = retrier as? any RetryStrategy { await ask(policy) } else { await askOther(retrier) }
    }

    @inline(never)
    private func askStrategy() async { decision = await strategy?.decide(outcome.result, in: context) }

    @inline(never)
    private func ask(_ policy: any RetryStrategy) async {
        guard strategy == nil, !context.isNested else { return }
        note(await policy.decide(outcome.result, in: context))
    }

    private func note(_ answer: RetryDecision) {
        if case .finish = answer.action { refusal = refusal ?? answer } else { decision = answer }
    }

    /// Asks a retrier that is no strategy.
    @inline(never)
    private func askOther(_ retrier: any RequestRetrier) async {
        let free = retrier as? any FreeRetry
        guard let failure, let session, !context.isNested || free?.drawsOnBudget == false else { return }
        let pending = PendingDecision()
        let answer = await pending.collect { await retrier.retry(request, for: session, dueTo: failure) }
        note(pending.isImplemented ? answer : request.answer(ofAbsent: retrier), of: retrier, pending, free)
    }

    @inline(never)
    private func note(
        _ answer: RetryResult,
        of retrier: any RequestRetrier,
        _ pending: PendingDecision,
        _ free: (any FreeRetry)?
    ) {
        switch answer {
        case .doNotRetry: hasDeclined = hasDeclined || (free == nil && pending.isImplemented)
        case .doNotRetryWithError(let error):
            let failure: any Error = failure ?? RefrainError.explicitlyCancelled
            let name = "\(type(of: retrier))"
            decision = .finish(.strategyDeclined)
            decision?.error = RefrainError.requestRetryFailed(retryError: error, originalError: failure, by: name)
        case .retry: decision = pending.decision(after: .zero, free)
        case .retryWithDelay(let delay): decision = pending.decision(after: delay, free)
        }
    }

    /// Returns what follows where no retrier decided and the request has no strategy.
    @inline(never)
    private func decisionWithoutRetrier() -> RetryDecision {
        // A retrier of the caller's own that declined has decided for outer loops, too (rule R24).
        if hasDeclined { return .finish(.strategyDeclined, refusal?.rules ?? []) }
        if let refusal, refusal.reason != .succeeded { return refusal }
        if chain.hasDefaultPolicy, refusal == nil {
            // Within `Task.retrying` the attempts are the task's; the rules are not.
            let isInside = OuterRetry.isInside
            let policy = isInside ? RetryPolicy.recommended.withoutDelays : .recommended
            var decision = policy.decide(in: context)
            decision.isLeftToOuterLoop = isInside
            if decision.reason != .succeeded { return decision }
        }
        if case .success(let response) = outcome.result, response.status.rawValue < 400 {
            return .finish(.validationFailed)
        }
        return .finish(.noStrategy)
    }
}

extension Request {
    /// The result of an interceptor without a retrying half: an error if it has no adapting half, either.
    fileprivate func answer(ofAbsent interceptor: any RequestRetrier) -> RetryResult {
        let type = type(of: interceptor)
        let isEmpty = state.withLock { $0.cold?.absentAdapters.contains(ObjectIdentifier(type)) == true }
        guard isEmpty else { return .doNotRetry }
        return .doNotRetryWithError(CompletionForm.neither("adapt(_:for:) or retry(_:for:dueTo:)", of: type))
    }
}

extension RetryPolicy {
    /// This policy without a schedule of its own, for a loop that has one.
    fileprivate var withoutDelays: RetryPolicy {
        var copy = with(schedule: .immediately(maxAttempts: nil))
        copy.overloadSchedule = nil
        return copy
    }
}
