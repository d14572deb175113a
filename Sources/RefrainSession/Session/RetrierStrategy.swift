internal import RefrainCore

/// Asks the retriers of a session and of a request what follows a failed try: the decision that the retry stage acts
/// on.
///
/// Retriers are asked in order until one answers other than `.doNotRetry`. Those that are strategies, such as
/// ``RetryPolicy``, give their whole judgement, also to a retrier that wraps one and asks for another try; the answers
/// of all others are held against the rules on sending again and on the server's delays by ``HTTPRetryStrategy``'s own
/// judgement of a plain delay.
struct RetrierStrategy: PromptStrategy, NestedStrategy {
    func retryDelay(for result: HTTPResult) -> Duration? { nil }

    /// Whether a response has passed all checks, and no strategy of the request's own may want another try.
    func isContent(with result: HTTPResult, of request: HTTPRequest) -> Bool {
        guard case .success = result, let owner = request.sessionRequest else { return false }
        return owner.failure(of: result) == nil && request.ownStrategy == nil
    }

    /// The decision, as far as the retriers up to the one that gives it need no wait.
    func judgePromptly(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) -> RetryJudgement? {
        guard let owner = request.sessionRequest else { return .finish(result.isAnswered ? .succeeded : .noStrategy) }
        guard let failure = owner.failure(of: result) else {
            return request.ownStrategy == nil ? .finish(.succeeded) : nil
        }
        owner.note(failure: failure, facts: facts, of: result)
        guard !owner.sessionReference.isGone else { return .finish(.finalFailure) }
        guard !failure.isCancellation else { return .finish(.cancelled, Rules(9)) }
        guard request.ownStrategy == nil else { return nil }
        var refusal: RetryJudgement?
        for retrier in owner.line.promptRetriers {
            guard let judgement = retrier?.judgePromptly(facts, for: result, of: request) else { return nil }
            guard case .finish = judgement.action else { return judgement }
            refusal = refusal ?? judgement
        }
        return end(refusal, result, owner)
    }

    func judge(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) async -> RetryJudgement {
        guard let owner = request.sessionRequest else { return .finish(result.isAnswered ? .succeeded : .noStrategy) }
        guard let failure = owner.failure(of: result) else {
            // Retriers are asked about failures; a strategy is asked about every outcome: it may poll.
            return await request.ownStrategy?.judge(facts, for: result, of: request) ?? .finish(.succeeded)
        }
        owner.note(failure: failure, facts: facts, of: result)
        guard let session = owner.session else { return .finish(.finalFailure) }
        guard !failure.isCancellation else { return .finish(.cancelled, Rules(9)) }
        var refusal: RetryJudgement?
        for retrier in owner.line.retriers {
            if let strategy = retrier as? any HTTPRetryStrategy {
                // A strategy that was set on the request itself stands in for the session's policies.
                guard request.ownStrategy == nil else { continue }
                let judgement = await strategy.judge(facts, for: result, of: request)
                guard case .finish = judgement.action else { return judgement }
                refusal = refusal ?? judgement
                continue
            }
            // What a policy has said to one retrier is nothing to the next one.
            owner.forgetOffer()
            let answer = await retrier.retry(owner, for: session, dueTo: failure)
            if let judgement = judgement(answer, by: retrier, failure, facts, result, owner) { return judgement }
        }
        if let strategy = request.ownStrategy { return await strategy.judge(facts, for: result, of: request) }
        return end(refusal, result, owner)
    }

    /// The judgement of those whose one replay is no try: all others have no say within a try of a stage further out.
    func judgeNested(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) async -> RetryJudgement? {
        guard let owner = request.sessionRequest, let failure = owner.failure(of: result), !failure.isCancellation,
            let session = owner.session
        else { return nil }
        for case let retrier as any UsesNoTry in owner.line.retriers where !retrier.drawsOnBudget {
            owner.note(failure: failure, facts: facts, of: result)
            owner.forgetOffer()
            let answer = await retrier.retry(owner, for: session, dueTo: failure)
            if let judgement = judgement(answer, by: retrier, failure, facts, result, owner) { return judgement }
        }
        return nil
    }

    /// What a retrier's answer comes to; nil where it leaves the decision to the next one.
    @inline(never)
    private func judgement(
        _ answer: RetryResult,
        by retrier: any RequestRetrier,
        _ failure: RefrainError,
        _ facts: RetryFacts,
        _ result: HTTPResult,
        _ owner: Request
    ) -> RetryJudgement? {
        switch answer {
        case .doNotRetry: return nil
        case .doNotRetryWithError(let error):
            guard !(error is CancellationError) || !Task.isCancelled else { return .finish(.cancelled, Rules(9)) }
            let name = "\(type(of: retrier))"
            owner.note(retryFailure: .requestRetryFailed(retryError: error, originalError: failure, by: name))
            return .finish(.strategyDeclined)
        case .retry: return judgement(.zero, by: retrier, facts, result, owner)
        case .retryWithDelay(let delay): return judgement(delay, by: retrier, facts, result, owner)
        }
    }

    /// The judgement where no retrier wants another try.
    private func end(_ refusal: RetryJudgement?, _ result: HTTPResult, _ owner: Request) -> RetryJudgement {
        if let refusal, refusal.reason != .succeeded { return refusal }
        return .finish(
            result.isAnswered ? .validationFailed : owner.line.retriers.isEmpty ? .noStrategy : .strategyDeclined
        )
    }

    @inline(never)
    private func judgement(
        _ delay: Duration,
        by retrier: any RequestRetrier,
        _ facts: RetryFacts,
        _ result: HTTPResult,
        _ owner: Request
    ) -> RetryJudgement {
        var free = retrier as? any UsesNoTry
        var judgement: RetryJudgement?
        switch owner.takeOffer() {
        case .judgement(let offered): judgement = offered.after(delay)
        case .free(let offered): free = offered
        case nil: break
        }
        let wanted = judgement ?? PlainDelay(delay: delay).judge(facts, for: result)
        return free.map { wanted.free(by: $0) } ?? wanted
    }
}

/// A retrier whose retries use up none of the tries, since something has changed in between.
protocol UsesNoTry: RequestRetrier {
    /// The reason in the record.
    var retryReason: RetryReason { get }
    /// The rules that ask for it.
    var rules: Rules { get }
    /// Whether they draw on the budget; replays after a refresh of credentials do not (rule R23).
    var drawsOnBudget: Bool { get }
}

extension UsesNoTry {
    /// Asks for another try that uses up none, also where a retrier wraps this one and hands its answer on.
    func retryFreely(_ request: Request) -> RetryResult {
        request.offer(.free(self))
        return .retry
    }
}

/// A delay that somebody wants, as a strategy, so that the rules are held against it as against any other.
private struct PlainDelay: HTTPRetryStrategy {
    let delay: Duration

    func retryDelay(for result: HTTPResult) -> Duration? { delay }
}

extension RetryJudgement {
    /// This judgement, as that of a retrier whose retries use up no try.
    fileprivate func free(by retrier: any UsesNoTry) -> RetryJudgement {
        guard case .retry = action else { return self }
        var judgement = self
        judgement.reason = retrier.retryReason
        judgement.rules.formUnion(retrier.rules)
        judgement.isFree = true
        judgement.drawsOnBudget = retrier.drawsOnBudget
        return judgement
    }

    /// This judgement, with the delay of a retrier that wraps the policy which gave it.
    fileprivate func after(_ delay: Duration) -> RetryJudgement {
        guard case .retry(let wait) = action else { return self }
        let delay = delay.clampedToDelay
        // The server's delay holds where it is the longer one (rule R17).
        let server = wait.server.flatMap { $0 > delay ? $0 : nil }
        var judgement = self
        judgement.action = .retry(RetryWait(schedule: delay...delay, server: server, bound: wait.bound))
        return judgement
    }
}

extension HTTPResult {
    /// Whether there is a response with a status below 400.
    fileprivate var isAnswered: Bool {
        if case .success(let response) = self { return response.status.rawValue < 400 }
        return false
    }
}
