// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

extension Request {
    /// Returns what follows an attempt: the decision of the first retrier that does not return `.doNotRetry`.
    ///
    /// A retrier that is a strategy, such as `RetryPolicy`, gives its whole decision, also to a retrier that wraps it.
    /// The delays of all others are held against the rules by the retry stage. A strategy of the request's own takes
    /// the place of the policies. Within an attempt of an outer retry stage only replays are decided on.
    func decide(
        _ outcome: AttemptOutcome,
        in context: RetryContext,
        for original: HTTPRequest
    ) async -> RetryDecision {
        let result = outcome.result
        // A strategy within another stage's attempt has no say (rule R24).
        let own = context.isNested ? nil : result.request.keepingOptions(of: original).retryStrategy
        guard let failure = failure(of: outcome) else {
            // Retriers decide on failures; a strategy decides on every outcome, because it may poll.
            return await own?.decide(result, in: context) ?? .finish(.succeeded)
        }
        publish(failure, of: outcome, in: context)
        guard let session else { return .finish(.finalFailure) }
        guard !failure.isCancellation else { return .finish(.cancelled, [.cancellation]) }
        // The first decision of a policy against a retry, and whether a retrier of the caller's own declined.
        var refusal: RetryDecision?
        var hasDeclined = false
        for retrier in interceptors.retriers {
            if let policy = retrier as? any RetryStrategy {
                guard own == nil, !context.isNested else { continue }
                let decision = await policy.decide(result, in: context)
                guard decision.isFinish else { return decision }
                refusal = refusal ?? decision
            } else {
                let isNested = context.isNested
                let answer = await PendingDecision.answer(of: retrier, to: self, in: session, failure, isNested)
                if let decision = answer.decision { return decision }
                hasDeclined = hasDeclined || answer.isRefusal
            }
        }
        if context.isNested { return .finish(.nested, [.nesting]) }
        if let own { return await own.decide(result, in: context) }
        // A retrier of the caller's own that declined has decided for outer loops, too (rule R24).
        if hasDeclined { return .finish(.strategyDeclined, refusal?.rules ?? []) }
        if let refusal, refusal.reason != .succeeded { return refusal }
        if interceptors.hasDefaultPolicy, refusal == nil {
            let decision = RetryPolicy.decideByDefault(in: context)
            if decision.reason != .succeeded { return decision }
        }
        if case .success(let response) = result, response.status.rawValue < 400 { return .finish(.validationFailed) }
        return .finish(.noStrategy)
    }

    /// Returns the error of an attempt for the retriers; nil if it succeeded.
    private func failure(of outcome: AttemptOutcome) -> RefrainError? {
        switch outcome.result {
        case .failure(let error): return RefrainError(of: error)
        case .success(let response):
            if let known = outcome.validationError ?? outcome.serializationError { return known as? RefrainError }
            guard !outcome.isSuccess else { return nil }
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response.status.rawValue))
        }
    }
}

extension InterceptorChain {
    /// Whether the decision on a response needs no body: policies look at its head and at what a profile reads, other
    /// retriers may look further.
    func decidesByHead(_ strategy: (any RetryStrategy)?) -> Bool {
        guard strategy == nil || strategy is RetryPolicy else { return false }
        return retriers.allSatisfy { $0 is RetryPolicy || $0 is ConnectionLostRetryPolicy }
    }

    /// Whether a policy reads something in the body of a response that is still to be read.
    func mustRead(_ response: HTTPResponse, by strategy: (any RetryStrategy)?) -> Bool {
        func reads(_ policy: Any?) -> Bool { (policy as? RetryPolicy)?.profile?.mustRead(response) ?? false }
        return strategy.map(reads) ?? retriers.contains { reads($0) }
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

        /// Returns the decision that a delay stands for.
        func decision(after delay: Duration, _ free: (any FreeRetry)?) -> RetryDecision {
            var decision = decision?.withDelay(delay) ?? .retry(after: delay)
            guard let free = self.free ?? free, case .retry = decision.action else { return decision }
            decision.reason = free.retryReason
            decision.rules.formUnion(free.rules)
            decision.isFree = true
            decision.drawsOnBudget = free.drawsOnBudget
            return decision
        }
    }

    private let state = Locked(State())

    /// What a retrier that is not a strategy has answered.
    struct Answer {
        /// The decision; nil: the next retrier is asked.
        var decision: RetryDecision?
        /// Whether it was asked and declined.
        var isRefusal = false
    }

    /// Asks a retrier that is not a strategy; within an attempt of an outer retry stage, only one that replays.
    static func answer(
        of retrier: any RequestRetrier,
        to request: Request,
        in session: Session,
        _ failure: RefrainError,
        _ isNested: Bool
    ) async -> Answer {
        let free = retrier as? any FreeRetry
        guard !isNested || free?.drawsOnBudget == false else { return Answer() }
        let pending = PendingDecision()
        var result = await $current.withValue(pending) {
            await retrier.retry(request, for: session, dueTo: failure)
        }
        let noted = pending.state.withLock { $0 }
        if !noted.isImplemented { result = request.answer(ofAbsent: retrier) }
        switch result {
        case .doNotRetry: return Answer(isRefusal: free == nil && noted.isImplemented)
        case .doNotRetryWithError(let error):
            let name = "\(type(of: retrier))"
            let error = RefrainError.requestRetryFailed(retryError: error, originalError: failure, by: name)
            return Answer(decision: .finish(.strategyDeclined, error: error))
        case .retry: return Answer(decision: noted.decision(after: .zero, free))
        case .retryWithDelay(let delay): return Answer(decision: noted.decision(after: delay, free))
        }
    }

    /// Keeps a policy's decision; of several the last one counts.
    static func note(_ decision: RetryDecision) { current?.state.withLock { $0 = State(decision: decision) } }

    /// Keeps the retrier whose retry is not counted; of several the last one counts.
    static func note(_ free: any FreeRetry) { current?.state.withLock { $0 = State(free: free) } }

    /// Keeps that an interceptor does not implement the method, so that its `.doNotRetry` is not a decision.
    static func noteNotImplemented() { current?.state.withLock { $0.isImplemented = false } }
}

extension Request {
    /// The result of an interceptor without a retrying half: an error if it has no adapting half, either.
    fileprivate func answer(ofAbsent interceptor: any RequestRetrier) -> RetryResult {
        let type = type(of: interceptor)
        guard isAdapterAbsent(type) else { return .doNotRetry }
        return .doNotRetryWithError(CompletionForm.neither("adapt(_:for:) or retry(_:for:dueTo:)", of: type))
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
