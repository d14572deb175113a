/// One request on its way through a retry stage: what it has come to so far.
///
/// It holds no rule of its own. It gathers the facts, asks the strategy and the budget, and writes the answer down.
struct RetryCall {
    let request: HTTPRequest
    let strategy: (any HTTPRetryStrategy)?
    let budget: RetryBudget?
    let clocks: ClockPair
    let random: RandomSource

    private let began: Duration
    private var attemptBegan: Duration
    private var record = CallRecord()
    private var needsFreshConnection = false
    /// What the last retry was paid for; a success gives it back to a budget of tokens.
    private var lastPaid: RetryBudget.Cause?

    init(
        request: HTTPRequest,
        strategy: (any HTTPRetryStrategy)?,
        budget: RetryBudget?,
        clocks: ClockPair,
        random: RandomSource
    ) {
        self.request = request
        self.strategy = strategy
        self.budget = budget
        self.clocks = clocks
        self.random = random
        began = clocks.now
        attemptBegan = began
    }

    /// Makes one attempt, from the original request (rule R6).
    mutating func send(_ attempt: Attempt, to next: any HTTPLoader) async -> HTTPResult {
        var request = request
        if attempt.number == 1 {
            if !RetryNesting.isInside { budget?.creditFirstTry() }
        } else {
            attemptBegan = clocks.now
        }
        if needsFreshConnection { request.needsFreshConnection = true }
        // The deadline of the call cuts its last try, too (rule R20).
        if let remaining = attempt.remaining { request.timeouts.cutTotal(to: remaining) }
        guard attempt.number > 1 else { return await next.load(request) }
        // Only from the second try on: a first try whose inner stage spends its tries comes back marked as exhausted.
        return await RetryNesting.$isInside.withValue(true) { await next.load(request) }
    }

    /// Decides what follows an attempt.
    mutating func decide(_ attempt: Attempt, _ result: HTTPResult) async -> RetryDecision<HTTPResult> {
        let elapsed = clocks.now - began
        let duration = elapsed - (attemptBegan - began)
        var judgement = await judge(attempt, result, remaining: request.deadline.map { $0 - elapsed })
        // A strategy may have taken its time.
        let remaining = request.deadline.map { $0 - (clocks.now - began) }
        var delay = Duration.zero
        var outcome = result
        if case .retry(let wait) = judgement.action {
            delay = wait.drawn(using: random)
            if let remaining, delay >= remaining {
                judgement = .finish(.deadlineExceeded, judgement.rules.union(Rules(20)))
            } else if let budget, judgement.drawsOnBudget {
                let cause = BudgetCause.of(result, judgement)
                switch budget.withdraw(for: cause, longestWait: remaining.map { $0 - .nanoseconds(1) }) {
                case .granted:
                    lastPaid = cause
                case .grantedAfter(let turn):
                    lastPaid = cause
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
            if judgement.reason == .succeeded { budget?.creditSuccess(after: lastPaid) }
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
    mutating func giveUp(_ attempt: Attempt, _ result: HTTPResult) -> HTTPResult {
        record.endLast(.deadlineExceeded)
        return CallEnding.deadlineExceeded(request, result).recorded(record.attempts)
    }

    /// The last word where the wait, or the time before an attempt, was cancelled.
    mutating func cancelled() -> HTTPError {
        record.endLast(.cancelled)
        var error = HTTPError(.cancelled, request: request, bytesSent: record.attempts.isEmpty ? 0 : nil)
        error.message =
            record.attempts.isEmpty ? "cancelled before it was sent" : "cancelled while it waited for its next try"
        error.attempts = record.attempts
        return error
    }

    private func observe() {
        guard let last = record.attempts.last else { return }
        request.attemptRecorder?.note(last)
        request.attemptObserver?(last)
    }

    private func judge(_ attempt: Attempt, _ result: HTTPResult, remaining: Duration?) async -> RetryJudgement {
        guard let strategy else {
            return .finish(result.isSuccess ? .succeeded : .noStrategy)
        }
        if case .failure(let error) = result {
            if error.code == .cancelled { return .finish(.cancelled, Rules(9)) }
            if error.code == .timedOut, let remaining, remaining <= .zero {
                return .finish(.deadlineExceeded, Rules(20))
            }
        }
        if RetryNesting.isInside { return .finish(result.isSuccess ? .succeeded : .nested, Rules(24)) }
        if result.retriesAreExhausted { return .finish(.exhaustedWithin, Rules(24)) }
        let facts = RetryFacts(request, result, attempt: attempt, remaining: remaining, now: clocks.wallNow)
        return await strategy.judge(facts, for: result, of: request)
    }
}

/// What a retry is paid for, where budgets have prices (see ``RetryBudget/tokens(capacity:costs:refund:)``).
enum BudgetCause {
    static func of(_ result: HTTPResult, _ judgement: RetryJudgement) -> RetryBudget.Cause {
        switch result {
        case .failure(let error): error.code == .timedOut ? .timeout : .transient
        case .success(let response):
            // A server that names a time asks for rest, whatever its status.
            response.status == .tooManyRequests || !judgement.rules.isDisjoint(with: Rules(15, 19))
                ? .throttled : .transient
        }
    }
}

/// Whether this code runs within an attempt of a retry stage further out (rule R24).
enum RetryNesting {
    @TaskLocal static var isInside = false
}

extension HTTPResult {
    /// Whether this is a response with a status below 400.
    var isSuccess: Bool {
        if case .success(let response) = self { return response.status.rawValue < 400 }
        return false
    }
}
