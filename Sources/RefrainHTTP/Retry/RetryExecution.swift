/// Decides on the attempts of a call, and receives their record.
@usableFromInline
package protocol AttemptDecider: AnyObject, Sendable {
    /// Returns what follows an attempt; the rules are applied to it.
    func decide(_ outcome: AttemptOutcome, in context: RetryContext, for request: HTTPRequest) async -> RetryDecision

    /// Receives the record after each decision, with the newest attempt last.
    func record(_ attempts: [AttemptRecord])
}

/// One call of a retry stage: its attempts so far, and their outcomes.
///
/// It gathers the context, calls the strategy and the budget, and records the decision; the rules are in
/// ``RetryDecision`` and the deciders behind it. A class, so that it is allocated once and the frames of the
/// asynchronous functions around it hold one reference. It is the task's alone, and no access to one of its properties
/// leads to another, so that those used for every request have no exclusivity checks.
@usableFromInline
final class RetryExecution {
    /// The token of the sleeps of the stage that the call belongs to; a reset cancels it.
    let token: CancellationToken
    /// The outcome of the last attempt, and in the end that of the call.
    @exclusivity(unchecked) @usableFromInline var outcome: AttemptOutcome?
    /// The record of the attempts so far.
    var attempts: [AttemptRecord] { log.attempts }

    private var request: HTTPRequest
    private let configuration: Retry.Configuration
    @exclusivity(unchecked) private var progress = Progress.first
    private let began: Duration
    @exclusivity(unchecked) private var elapsed = Duration.zero
    @exclusivity(unchecked) private var log = AttemptLog()
    /// Whether another attempt follows the last decision of a strategy.
    @usableFromInline private(set) var continues = false
    private var needsFreshConnection = false
    /// When the first of the attempts failed that have brought nothing since; nil: none has failed.
    private var failingSince: Duration?
    private let isNested = NestedRetry.isInside
    /// Whether a success is decided on, too.
    private let decidesOnSuccess: Bool

    /// The budget of the origin; nil where there is none, or where a stage further in completes the URL.
    @exclusivity(unchecked) private var budget: RetryBudget?
    /// The cause of the last retry that the budget covered; a success refunds its cost to a budget of tokens.
    @exclusivity(unchecked) private var lastWithdrawal: RetryBudget.Cause?
    /// Whether a retry was covered by the budget and is not made yet.
    private var hasPendingWithdrawal = false
    /// Whether this stage deposits for the call; a stage further out or further in with the same budget does otherwise.
    @exclusivity(unchecked) private var deposits: Bool

    /// Begins a call; that of a request that cannot be sent has its outcome at once.
    init(_ request: HTTPRequest, _ configuration: Retry.Configuration, decidesOnSuccess: Bool) {
        self.decidesOnSuccess = decidesOnSuccess
        do throws(HTTPError) {
            self.request = try request.withIdempotencyKeyWritten().beginningCall(on: configuration.clocks)
        } catch {
            self.request = request
            outcome = AttemptOutcome(.failure(error))
        }
        self.configuration = configuration
        token = configuration.resets.current
        budget = configuration.budgets?.budget(for: request.url)
        deposits = !isNested
        began = configuration.clocks.now
        if let durable = self.request.durableCall {
            progress = .attempt(durable.firstAttempt(remaining: remaining), since: began)
        } else if let remaining {
            progress = .attempt(Attempt(number: 1, remaining: remaining), since: began)
        }
    }

    /// The running attempt, or the last one, and when it began; apart, as this takes 65 bytes.
    private enum Progress {
        /// The first one of a call without a limit.
        case first
        indirect case attempt(Attempt, since: Duration)
    }

    private var attempt: Attempt { if case .attempt(let attempt, _) = progress { attempt } else { .first } }
    private var attemptBegan: Duration { if case .attempt(_, let began) = progress { began } else { began } }

    private var clocks: RetryClocks { configuration.clocks }

    /// What is left of the timeout of the call.
    private var remaining: Duration? { request.deadline?.remaining }

    /// Whether no attempt precedes the running one.
    @usableFromInline var isFirst: Bool {
        @inline(never) get { attempt.number == 1 }
    }

    /// Returns the request of an attempt, made from the original one (rule R6).
    @inline(never)
    @usableFromInline
    func prepare() -> HTTPRequest {
        var request = request
        if !isFirst {
            hasPendingWithdrawal = false
            // A response that is read as it arrives gives its connection back when it is released.
            outcome = nil
            request.attemptNumber = attempt.number
        }
        if needsFreshConnection { request.needsFreshConnection = true }
        return request
    }

    // MARK: The decision

    /// Whether the call ends with the last outcome without a decision of a strategy.
    @inline(never)
    @usableFromInline
    func ends(_ decider: any AttemptDecider) -> Bool {
        guard let decision = decisionWithoutStrategy else { return false }
        _ = conclude(decision)
        decider.record(attempts)
        return true
    }

    /// Calls a strategy with the last outcome, applies the rules, records what follows, and waits for the next attempt.
    @inline(never)
    @usableFromInline
    func decide(_ decider: any AttemptDecider) async {
        continues = false
        let step = await ask(decider)
        decider.record(attempts)
        guard case .retry(let delay, _, let isFree) = step else { return }
        let pause = await attempt.pause(for: delay, isFree: isFree) {
            remaining
        } waits: {
            await waits(for: $0)
        }
        switch pause {
        case .ends where request.durableCall?.isOwned() == false: outcome = nil
        case .ends(let next):
            progress = .attempt(next, since: clocks.now)
            continues = true
        case .reachesDeadline: endAtTimeout()
        case .cancelled: outcome = nil
        }
    }

    /// Waits for a delay; returns false as soon as the task is cancelled, or the stage is reset.
    @inline(never)
    private func waits(for delay: Duration) async -> Bool {
        await clocks.timer.cancelled(by: token).waits(for: delay)
    }

    /// The decision on the last outcome if no strategy is called; nil if one is.
    private var decisionWithoutStrategy: RetryDecision? {
        guard let outcome else { return .finish(.cancelled, [.cancellation]) }
        elapsed = clocks.now - began
        if outcome.isSuccess {
            // The caller's validation decides about a status that would be a failure without it.
            if !decidesOnSuccess || outcome.result.isClientOrServerError { return .finish(.succeeded) }
        }
        if case .failure(let error) = outcome.result {
            if error.code == .cancelled { return .finish(.cancelled, [.cancellation]) }
            if error.code == .timedOut, request.isPastDeadline {
                return .finish(.deadlineExceeded, [.deadline])
            }
            // A stage that makes no attempts has no record that contains it.
            if error.attempts.isEmpty, let reason = error.code.endingReason { return .finish(reason, [.nesting]) }
        }
        return outcome.result.retriesAreExhausted ? .finish(.exhaustedWithin, [.nesting]) : nil
    }

    /// The arguments and the result of a strategy; on the heap, so that no frame keeps them.
    private final class Question: @unchecked Sendable {
        // @unchecked Sendable: the decision is read after the one task that writes it.
        let outcome: AttemptOutcome
        let context: RetryContext
        let request: HTTPRequest
        var decision = RetryDecision.finish()

        init(_ outcome: AttemptOutcome, _ context: RetryContext, _ request: HTTPRequest) {
            self.outcome = outcome
            self.context = context
            self.request = request
        }
    }

    /// Calls a strategy with the last outcome, for no longer than the call has time (rule R20).
    ///
    /// What needs no waiting is done apart: a task keeps the memory of its largest frame until it ends, also while it
    /// waits for its next attempt.
    @inline(never)
    private func ask(_ decider: any AttemptDecider) async -> Attempt.Step<Void> {
        guard let question = question() else { return .finish((), .cancelled) }
        let (_, isLate) = await request.withinDeadline {
            question.decision = await decider.decide(question.outcome, in: question.context, for: question.request)
        }
        return conclude(question, isLate: isLate)
    }

    private func context(of result: HTTPResult) -> RetryContext {
        RetryContext(request, result, attempt: attempt, remaining: remaining, now: clocks.wallNow)
    }

    @inline(never)
    private func question() -> Question? {
        guard let outcome else { return nil }
        var context = context(of: outcome.result)
        context.details.isStatusAccepted = outcome.isStatusAccepted
        context.details.isNested = isNested
        if (context.progress ?? 0) > 0 { failingSince = nil }
        context.details.failingFor = elapsed - (failingSince ?? elapsed)
        failingSince = failingSince ?? elapsed
        return Question(outcome, context, request)
    }

    @inline(never)
    private func conclude(_ question: Question, isLate: Bool) -> Attempt.Step<Void> {
        conclude(accept(question, isLate: isLate))
    }

    /// Returns what follows from a strategy's decision.
    private func accept(_ question: Question, isLate: Bool) -> RetryDecision {
        let decision = question.decision
        // Nothing follows a cancellation or a reset, not even the answer of this attempt (rule R9).
        if Task.isCancelled || token.isCancelled { return .finish(.cancelled, [.cancellation]) }
        if question.outcome.isSuccess, case .finish = decision.action {
            let isPlain = [.strategyDeclined, .noStrategy, .nested].contains(decision.reason)
            return isPlain ? .finish(.succeeded) : decision
        }
        return isLate ? .finish(.deadlineExceeded, [.deadline]) : decision.applyingRules(question.context)
    }

    /// Applies the timeout and the budget to a decision, and records the result.
    @inline(never)
    private func conclude(_ wanted: RetryDecision) -> Attempt.Step<Void> {
        // Taken out, so that it is changed in place.
        guard var outcome = outcome.take() else { return .finish((), .cancelled) }
        // Copied once, and not for each step.
        let last = outcome.result
        deposit(last)
        var step = affordable(wanted, last)
        if wanted.isLeftToOuterLoop, case .retry = step.decision.action {
            step.decision = .finish(.nested, step.decision.rules.union([.nesting]))
            step.delay = .zero
        }
        record(last, step, isSuccess: outcome.isSuccess)
        let decision = step.decision
        guard case .retry = decision.action else {
            outcome.result = result(of: decision, after: last).recorded(log)
            outcome.retryError = decision.error
            self.outcome = outcome
            return .finish((), decision.reason)
        }
        needsFreshConnection = needsFreshConnection || decision.needsFreshConnection
        request.retainKey(of: last.request)
        // Only a timeout needs the outcome again: other waits do not keep a response.
        self.outcome = request.deadline == nil ? nil : AttemptOutcome(last.withoutStream)
        return .retry(after: step.delay, decision.reason, isFree: decision.isFree)
    }

    /// What follows an attempt.
    private struct Step {
        var decision: RetryDecision
        /// The delay before the retry, if one follows.
        var delay = Duration.zero
        /// What covered the retry, or why nothing did; nil if the budget was not used.
        var credit: RetryBudget.Credit?
    }

    /// Returns what the time left and the budget allow of a decision.
    private func affordable(_ decision: RetryDecision, _ result: HTTPResult) -> Step {
        guard case .retry(let wanted) = decision.action else { return Step(decision: decision) }
        var delay = wanted.sample(using: configuration.random)
        // A strategy may have taken long.
        let remaining = remaining
        // Jitter may take what a server's own delay leaves, but not more (rule R18).
        if let remaining, delay >= remaining, wanted.server != nil { delay = wanted.range.lowerBound }
        if let remaining, delay >= remaining {
            return Step(decision: .finish(.deadlineExceeded, decision.rules.union([.deadline])))
        }
        if let durable = request.durableCall, delay > durable.longestWait {
            return Step(decision: durable.later(decision, after: delay, now: clocks.wallNow))
        }
        guard let budget, decision.drawsOnBudget else { return Step(decision: decision, delay: delay) }
        let cause = BudgetCause.of(result, decision)
        let answer = budget.covered(for: cause, longestWait: remaining.map { $0 - .nanoseconds(1) })
        switch answer.withdrawal {
        case .granted: break
        case .grantedAfter(let turn): delay = max(delay, turn)
        case .refused:
            // A limit of this process must not end a request that outlives it.
            if let durable = request.durableCall {
                let delay = max(delay, durable.longestWait)
                let later = durable.later(decision, after: delay, now: clocks.wallNow)
                return Step(decision: later, credit: answer.credit)
            }
            let rules = decision.rules.union(answer.credit == .closed ? [.budget, .fleet] : [.budget])
            return Step(decision: .finish(.budgetExhausted, rules), credit: answer.credit)
        }
        (lastWithdrawal, hasPendingWithdrawal) = (cause, true)
        return Step(decision: decision, delay: delay, credit: answer.credit)
    }

    /// Returns the result of a call that ends with this decision.
    private func result(of decision: RetryDecision, after result: HTTPResult) -> HTTPResult {
        if case .retryAfterTooLong(let date) = decision.action {
            return .failure(.retryAfterTooLong(until: date, request, result))
        }
        switch decision.reason {
        case .succeeded:
            if deposits || lastWithdrawal != nil { budget?.depositSuccess(after: lastWithdrawal) }
            return result
        case .deadlineExceeded: return HTTPError.deadlineExceeded(request, result)
        case .cancelled:
            if case .failure(let error) = result, error.isCancellation { return result }
            let message = "cancelled while its outcome was decided on"
            return .failure(HTTPError(.cancelled, request: request, message: message))
        default: return result
        }
    }

    // MARK: The record and the budget

    private func record(_ result: HTTPResult, _ step: Step, isSuccess: Bool) {
        let isRetry = if case .retry = step.decision.action { true } else { false }
        let repetition = isRetry || isSuccess ? nil : AttemptRecord.Repetition(context(of: result), result)
        let start = attemptBegan - began
        log.add(
            result,
            start: start,
            duration: elapsed - start,
            decision: isRetry ? .retry : .finish,
            reason: step.decision.reason,
            rules: step.decision.rules,
            delay: step.delay,
            credit: step.credit,
            repetition: repetition
        )
        if let observer = request.attemptObserver, let last = log.attempts.last { observer(last) }
    }

    /// Deposits for the first attempt, unless a stage further in has deposited in the same budget.
    ///
    /// Only the result states whether one has, and which origin the request went to, so it is not done before.
    private func deposit(_ result: HTTPResult) {
        guard log.attempts.isEmpty else { return }
        if budget == nil { budget = configuration.budgets?.budget(for: result.request.url) }
        guard deposits, let budget else { return }
        deposits = result.creditedBudget != ObjectIdentifier(budget)
        guard deposits else { return }
        budget.deposit()
        log.creditedBudget = ObjectIdentifier(budget)
    }

    /// Refunds the cost of a retry that is not made.
    private func refund() {
        guard hasPendingWithdrawal, let lastWithdrawal else { return }
        hasPendingWithdrawal = false
        budget?.refund(for: lastWithdrawal)
    }

    /// Ends the call if its deadline passed between the decision and the next attempt.
    private func endAtTimeout() {
        refund()
        log.endLast(.deadlineExceeded)
        if let last = outcome?.result { outcome?.result = HTTPError.deadlineExceeded(request, last).recorded(log) }
    }

    /// Returns the outcome of the call.
    @inline(never)
    @usableFromInline
    func ending(_ request: HTTPRequest) -> AttemptOutcome {
        (outcome ?? cancelled()).ending(request)
    }

    /// Returns the outcome where the wait for an attempt was cancelled.
    private func cancelled() -> AttemptOutcome {
        refund()
        log.endLast(.cancelled)
        let wasSent = !log.attempts.isEmpty
        var error = HTTPError(.cancelled, request: request, bytesSent: wasSent ? nil : 0)
        error.message = wasSent ? "cancelled while it waited for its next attempt" : "cancelled before it was sent"
        return AttemptOutcome(HTTPResult.failure(error).recorded(log))
    }
}

extension HTTPResult {
    /// Whether this is a response with a status of 400 or more.
    fileprivate var isClientOrServerError: Bool {
        if case .success(let response) = self { return response.status.rawValue >= 400 }
        return false
    }
}
