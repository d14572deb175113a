/// One request on its way through a retry stage: what it has come to so far.
///
/// It holds no rule of its own. It gathers the facts, asks the strategy and the budget, and writes the answer down.
///
/// An object, and not a value: it lies once in memory, and not in the frame of each asynchronous function that it is
/// at work in. What needs no wait is done outside of these for the same reason.
package final class RetryCall {
    /// What is asked for.
    package private(set) var request: HTTPRequest
    /// The sleepers that the call belongs to: a reset ends them, and what has begun before it is not tried again.
    let generation: SleepGroup
    /// What the last try has come to, and in the end what the call comes to.
    ///
    /// That of a first try which somebody else has made is there from the beginning. It is kept here, and not by the
    /// loop, since who waits in the loop keeps a place for each value that it hands on.
    var result: HTTPResult?

    private let settings: RetrySettings
    /// The budget of the origin; nil: there is none, or the URL is one that a stage further in completes.
    private var budget: RetryBudget?

    private let began: Duration
    private var firstTryEnded: Duration?
    private var attemptBegan: Duration
    private var record = CallRecord()
    private var needsFreshConnection = false
    /// What the last retry was paid for; a success gives it back to a budget of tokens.
    private var lastPaid: RetryBudget.Cause?
    /// Whether the last retry is paid for and not made as yet.
    private var isPaidAhead = false
    /// Whether the call is this stage's to credit, and not that of one further out or further in.
    private var isCredited = false

    /// A call that began at `began`, or begins now.
    init(request: HTTPRequest, settings: RetrySettings, generation: SleepGroup, began: Duration?) {
        self.request = request
        self.generation = generation
        self.settings = settings
        budget = settings.budgets?.budget(for: request.url)
        self.began = began ?? settings.clocks.now
        attemptBegan = self.began
    }

    private var clocks: ClockPair { settings.clocks }

    /// The request's own strategy, or else the stage's.
    var strategy: (any HTTPRetryStrategy)? { request.retryStrategy ?? settings.strategy }

    /// Names the one whom the call is made for, before anybody has to know.
    package func carry(_ owner: CallOwner) { request.owner = owner }

    /// What is left of the deadline.
    var remaining: Duration? { request.deadline.map { $0 - (clocks.now - began) } }

    /// The request of the first try, for those who make it themselves.
    package func firstTry() -> HTTPRequest {
        prepare(Attempt(number: 1, remaining: request.deadline?.clampedToDeadline))
    }

    /// Notes that the first try is over, where it may be a while until its result is looked at.
    package func noteArrival() { firstTryEnded = clocks.now }

    /// The outcome of the call where its first result leaves nothing to decide, or nil: then it is decided on by
    /// ``Retry/goOn(_:after:next:)``.
    ///
    /// - Parameters:
    ///   - result: the result.
    ///   - isContent: whether there is a response, and nothing is wrong with it in the eyes of the strategy.
    package func outcome(ofFirst result: HTTPResult, isContent: Bool) -> HTTPResult? {
        switch result {
        case .success(var response):
            guard isContent, !response.retriesAreExhausted, response.attempts.isEmpty else { return nil }
            response.attempts = [recordSuccess(response)]
            return .success(response)
        case .failure(let error):
            guard error.code == .cancelled, case .finish(let outcome, _)? = decidePromptly(.first, result) else {
                return nil
            }
            return outcome
        }
    }

    /// Concludes the call with a first try that has succeeded, as ``conclude(_:_:after:)`` does with any try.
    private func recordSuccess(_ response: HTTPResponse) -> AttemptRecord {
        var success = AttemptRecord(
            number: 1,
            start: .zero,
            duration: (firstTryEnded ?? clocks.now) - began,
            status: response.status,
            bytesSent: response.exchange.bytesSent,
            decision: .finish,
            reason: .succeeded
        )
        if budget == nil { findBudget(of: response.request) }
        if isCredited, let budget {
            budget.creditFirstTry()
            budget.creditSuccess(after: nil)
            success.credit.budget = ObjectIdentifier(budget)
        }
        return success
    }

    /// Looks up the budget of a request whose URL had no origin before it was sent: nothing is drawn before either.
    @inline(never)
    private func findBudget(of sent: HTTPRequest) {
        budget = settings.budgets?.budget(for: sent.url)
    }

    /// Credits the first try, unless a stage further in has credited the same budget with it.
    ///
    /// That is known only when there is a result, so it is not done before; nothing is drawn before either.
    @inline(never)
    private func creditFirstTry(_ result: HTTPResult) {
        guard isCredited, let budget else { return }
        let identity = ObjectIdentifier(budget)
        isCredited = !result.attempts.contains { $0.credit.budget == identity }
        guard isCredited else { return }
        budget.creditFirstTry()
        record.credit.budget = identity
    }

    /// Makes one attempt, from the original request (rule R6).
    func send(_ attempt: Attempt, to next: any HTTPLoader) async {
        if attempt.number > 1 {
            let request = prepare(attempt)
            // A response that is read as it arrives gives its connection back when nobody holds it any more.
            result = nil
            result = await Self.sendAgain(request, to: next)
        } else if result == nil {
            result = await next.load(prepare(attempt))
        }
    }

    /// Makes an attempt after the first one: in a frame of its own, which nobody keeps while it waits.
    @inline(never)
    private static func sendAgain(_ request: HTTPRequest, to next: any HTTPLoader) async -> HTTPResult {
        // Only from the second try on: a first try whose inner stage spends its tries comes back marked as exhausted.
        await RetryNesting.within { await next.load(request) }
    }

    @inline(never)
    private func prepare(_ attempt: Attempt) -> HTTPRequest {
        var request = request
        if attempt.number == 1 {
            isCredited = !RetryNesting.isInside
        } else {
            attemptBegan = clocks.now
            isPaidAhead = false
        }
        if needsFreshConnection { request.needsFreshConnection = true }
        // The deadline of the call cuts its last try, too (rule R20).
        if let remaining = attempt.remaining {
            request.deadline = remaining
            request.timeouts.cutTotal(to: remaining)
        }
        return request
    }

    /// Decides what follows an attempt; nothing follows it where the stage was reset meanwhile (rule R9), also where
    /// there is no wait.
    ///
    /// Not inlined, since whoever waits for the next try would keep a part of it.
    @inline(never)
    func decide(_ attempt: Attempt) async -> RetryDecision<Void> {
        guard let result = result.take() else { return .finish((), .cancelled) }
        if let decision = decidePromptly(attempt, result) { return settle(decision, on: result) }
        return settle(await decideLater(attempt, result), on: result)
    }

    @inline(never)
    private func settle(_ decision: RetryDecision<HTTPResult>, on last: HTTPResult) -> RetryDecision<Void> {
        switch decision {
        case .finish(let outcome, let reason):
            result = outcome
            return .finish((), reason)
        case .retry where generation.isClosed:
            result = .failure(cancelled())
            return .finish((), .cancelled)
        case .retry(let delay, let reason, let isFree):
            // Only a deadline may ask for it again: other waits do not keep a response.
            result = request.deadline == nil ? nil : last.withoutStream
            return .retry(after: delay, reason, isFree: isFree)
        }
    }

    /// The decision, where the strategy can give its judgement without a wait.
    @inline(never)
    private func decidePromptly(_ attempt: Attempt, _ result: HTTPResult) -> RetryDecision<HTTPResult>? {
        if budget == nil { findBudget(of: result.request) }
        if attempt.number == 1 { creditFirstTry(result) }
        let elapsed = clocks.now - began
        let own = request.retryStrategy
        if isContent(with: result) { return conclude(result, .finish(.succeeded), after: elapsed) }
        guard own != nil || settings.strategy != nil, let facts = facts(attempt, result, elapsed: elapsed) else {
            if nestedStrategy != nil, !isSettled(result, elapsed: elapsed) { return nil }
            return conclude(result, judgementWithoutStrategy(result, elapsed: elapsed), after: elapsed)
        }
        let strategy = own.map { $0 as? any PromptStrategy } ?? settings.promptStrategy
        guard let judgement = strategy?.judgePromptly(facts, for: result, of: request) else { return nil }
        return conclude(result, judgement, after: elapsed)
    }

    /// Whether nothing is wrong with a result: then there is nothing to decide, and no facts are gathered for it.
    private func isContent(with result: HTTPResult) -> Bool {
        guard request.retryStrategy == nil, !result.retriesAreExhausted, !RetryNesting.isInside,
            let strategy = settings.promptStrategy
        else { return false }
        return strategy.isContent(with: result, of: request)
    }

    @inline(never)
    private func decideLater(_ attempt: Attempt, _ result: HTTPResult) async -> RetryDecision<HTTPResult> {
        let elapsed = clocks.now - began
        guard let strategy, let facts = facts(attempt, result, elapsed: elapsed) else {
            return await decideNested(attempt, result, after: elapsed)
        }
        let (judgement, isLate) = await ask { [request] in await strategy.judge(facts, for: result, of: request) }
        // What a judge says who was cancelled for his time says nothing of the try.
        let isCut = isLate && judgement.reason != .succeeded
        return conclude(result, isCut ? .finish(.deadlineExceeded, Rules(20)) : judgement, after: elapsed)
    }

    /// Asks somebody who may take time to answer, but not more of it than is left.
    func ask<Answer: Sendable>(
        _ question: @escaping @Sendable () async -> Answer
    ) async -> (value: Answer, isCut: Bool) {
        var waiting = request
        waiting.deadline = remaining
        return await waiting.withinDeadline(on: clocks, question)
    }

    /// Holds a judgement against the deadline and the budget, and writes down what comes of it.
    @inline(never)
    func conclude(
        _ result: HTTPResult,
        _ judgement: RetryJudgement,
        after elapsed: Duration
    ) -> RetryDecision<HTTPResult> {
        let duration = elapsed - (attemptBegan - began)
        var judgement = judgement
        // A strategy may have taken its time.
        let remaining = remaining
        var delay = Duration.zero
        var outcome = result
        if case .retry(let wait) = judgement.action {
            delay = wait.drawn(using: settings.random)
            // Jitter may take what a server's own delay leaves, but not more (rule R18).
            if let remaining, delay >= remaining, wait.server != nil { delay = wait.range.lowerBound }
            if let remaining, delay >= remaining {
                judgement = .finish(.deadlineExceeded, judgement.rules.union(Rules(20)))
            } else if let budget, judgement.drawsOnBudget {
                let cause = BudgetCause.of(result, judgement)
                switch budget.withdraw(for: cause, longestWait: remaining.map { $0 - .nanoseconds(1) }) {
                case .granted:
                    (lastPaid, isPaidAhead) = (cause, true)
                case .grantedAfter(let turn):
                    (lastPaid, isPaidAhead) = (cause, true)
                    delay = max(delay, turn)
                case .refused:
                    judgement = .finish(.budgetExhausted, judgement.rules.union(Rules(22)))
                    outcome = .failure(CallEnding.budgetExhausted(request, result))
                }
            }
        }
        let start = attemptBegan - began
        switch judgement.action {
        case .retry:
            needsFreshConnection = needsFreshConnection || judgement.needsFreshConnection
            record.add(
                result,
                start: start,
                duration: duration,
                decision: .retry,
                reason: judgement.reason,
                rules: judgement.rules,
                delay: delay
            )
            observe()
            return .retry(after: delay, judgement.reason, isFree: judgement.isFree)
        case .comeBack(let date):
            outcome = .failure(CallEnding.comeBack(request, result, at: date))
        case .finish:
            if judgement.reason == .succeeded, isCredited || lastPaid != nil {
                budget?.creditSuccess(after: lastPaid)
            }
            if judgement.reason == .deadlineExceeded { outcome = CallEnding.deadlineExceeded(request, result) }
        }
        record.add(
            result,
            start: start,
            duration: duration,
            decision: .finish,
            reason: judgement.reason,
            rules: judgement.rules
        )
        observe()
        return .finish(outcome.recorded(record.attempts), judgement.reason)
    }

    /// The last word where the deadline passed between the decision and the wait.
    func giveUp() {
        giveBack()
        record.endLast(.deadlineExceeded)
        result = result.map { CallEnding.deadlineExceeded(request, $0).recorded(record.attempts) }
    }

    /// The last word where the wait, or the time before an attempt, was cancelled.
    func cancelled() -> HTTPError {
        giveBack()
        // Cancelled before anything was decided on the first try: it was made all the same.
        if record.attempts.isEmpty, let result {
            creditFirstTry(result)
            record.add(
                result,
                start: attemptBegan - began,
                duration: clocks.now - attemptBegan,
                decision: .finish,
                reason: .cancelled,
                rules: Rules(9)
            )
        }
        record.endLast(.cancelled)
        var error = HTTPError(.cancelled, request: request, bytesSent: record.attempts.isEmpty ? 0 : nil)
        error.message =
            record.attempts.isEmpty ? "cancelled before it was sent" : "cancelled while it waited for its next try"
        error.attempts = record.attempts
        return error
    }

    /// Returns what was paid for a retry that is not made after all: others wait behind its turn.
    private func giveBack() {
        guard isPaidAhead, let lastPaid else { return }
        isPaidAhead = false
        budget?.giveBack(for: lastPaid)
    }

    private func observe() {
        request.owner?.note(record.attempts)
        guard let observer = request.attemptObserver, let last = record.attempts.last else { return }
        observer(last)
    }

    /// What the strategy is to judge by; nil where there is nothing to ask it.
    @inline(never)
    private func facts(_ attempt: Attempt, _ result: HTTPResult, elapsed: Duration) -> RetryFacts? {
        guard !RetryNesting.isInside, !isSettled(result, elapsed: elapsed) else { return nil }
        return allFacts(attempt, result, elapsed: elapsed)
    }

    func allFacts(_ attempt: Attempt, _ result: HTTPResult, elapsed: Duration) -> RetryFacts {
        let remaining = request.deadline.map { $0 - elapsed }
        return RetryFacts(request, result, attempt: attempt, remaining: remaining, now: clocks.wallNow)
    }

    /// Whether a result stands, whatever anybody says: it was cancelled, or no tries or no time is left for another.
    func isSettled(_ result: HTTPResult, elapsed: Duration) -> Bool {
        if case .failure(let error) = result {
            if error.code == .cancelled { return true }
            if error.code == .timedOut, let deadline = request.deadline, deadline <= elapsed { return true }
        }
        return result.retriesAreExhausted
    }

    /// The judgement where there is no strategy, or nothing to ask it.
    @inline(never)
    func judgementWithoutStrategy(_ result: HTTPResult, elapsed: Duration) -> RetryJudgement {
        guard strategy != nil else { return .finish(result.isSuccess ? .succeeded : .noStrategy) }
        if case .failure(let error) = result {
            if error.code == .cancelled { return .finish(.cancelled, Rules(9)) }
            if error.code == .timedOut, let deadline = request.deadline, deadline <= elapsed {
                return .finish(.deadlineExceeded, Rules(20))
            }
        }
        if RetryNesting.isInside { return .finish(result.isSuccess ? .succeeded : .nested, Rules(24)) }
        // A stage that makes no tries has no record to say it by.
        if case .failure(let error) = result, error.attempts.isEmpty, let reason = error.code.endingReason {
            return .finish(reason, Rules(24))
        }
        return .finish(.exhaustedWithin, Rules(24))
    }
}

extension HTTPResult {
    /// Whether this is a response with a status below 400.
    var isSuccess: Bool {
        if case .success(let response) = self { return response.status.rawValue < 400 }
        return false
    }
}
