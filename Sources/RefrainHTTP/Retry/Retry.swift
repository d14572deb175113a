// SPDX-License-Identifier: Apache-2.0
/// Sends a request again if its strategy decides so and the rules allow it.
///
/// ```swift
/// let loader = Retry(.recommended) --> PlatformLoader()
/// ```
///
/// The stage calls the request's strategy (``HTTPRequest/retryStrategy``), or if it has none, its own. It never sends a
/// request again that may not be sent twice, applies the server's delays, the timeout of the call and the budget of
/// the origin, and records every attempt. A request in back-off holds neither a thread nor a slot of a ``Throttle``
/// further in; cancelling its task or resetting the chain ends the delay at once.
///
/// What a stage further in, such as ``ModifyRequest``, says of the request counts as if the caller had said it: its
/// strategy, ``HTTPRequest/replay``, idempotency key, ``HTTPRequest/retryAfterPolicy`` and ``HTTPRequest/timeout``.
public struct Retry: HTTPMiddleware {
    /// The strategy of requests that have none of their own; nil: these are sent once.
    public let strategy: (any RetryStrategy)?
    /// The budgets that retries draw on; nil: no limit.
    public let budgets: Budgets?

    fileprivate let clocks: RetryClocks
    fileprivate let random: RandomSource
    fileprivate let resets = CancellationTokenSource()

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - strategy: the strategy of requests that have none of their own.
    ///   - budgets: the budgets that retries draw on. By default all stages of the process share one for each origin.
    ///   - clocks: the clocks that waits are measured on and dates are compared with.
    ///   - random: the source of jitter.
    public init(
        _ strategy: (any RetryStrategy)? = nil,
        budgets: Budgets? = .shared,
        clocks: RetryClocks = .system,
        random: RandomSource = .shared
    ) {
        self.strategy = strategy
        self.budgets = budgets
        self.clocks = clocks
        self.random = random
    }

    /// Loads a request, as often as its strategy decides and the rules allow.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        // A stage further out that has deferred the bodies reads them itself.
        let isInner = request.deferredBodies.contains(.transientErrors)
        let outcome = await run(request.deferring(.transientErrors)) { sent in
            let result = await next.load(sent)
            guard !isInner, case .success(let response) = result, response.status.rawValue >= 400,
                let strategy = strategy(of: request, result)
            else { return AttemptOutcome(result) }
            // A strategy that may look at the body of an error gets the beginning of it, and a policy what its profile
            // reads of a refusal, also where the caller wants a stream.
            let isRead = (strategy as? RetryPolicy)?.profile?.mustRead(response)
            guard isRead ?? (response.isDeferred(for: request) && !strategy.decidesByHead) else {
                return AttemptOutcome(result)
            }
            return AttemptOutcome(.success(await response.withReadableBody()))
        } decidesOnSuccess: { result in
            strategy(of: request, result)?.decidesOnSuccess ?? false
        } decide: { outcome, context in
            guard let strategy = strategy(of: request, outcome.result) else { return .finish(.noStrategy) }
            // An outer stage makes the attempts (rule R24).
            guard !context.isNested else { return .finish(.nested, [.nesting]) }
            return await strategy.decide(outcome.result, in: context)
        }
        guard !isInner, !outcome.isRedirect else { return outcome.result }
        return await outcome.collected(for: request).result
    }

    /// The strategy of a request as it was sent, or else that of the stage.
    private func strategy(of request: HTTPRequest, _ result: HTTPResult) -> (any RetryStrategy)? {
        result.request.keepingOptions(of: request).retryStrategy ?? strategy
    }

    /// Runs the attempts of one call, for this stage and for the pipeline of a session.
    ///
    /// - Parameters:
    ///   - request: the original request, which each attempt is made from (rule R6).
    ///   - send: makes one attempt.
    ///   - decidesOnSuccess: returns whether `decide` is called for this successful result, too.
    ///   - decide: returns what follows an attempt; the rules are applied to it.
    ///   - record: receives the record after each decision, with the newest attempt last.
    package func run(
        _ request: HTTPRequest,
        send: (HTTPRequest) async -> AttemptOutcome,
        decidesOnSuccess: (HTTPResult) -> Bool,
        decide: @escaping @Sendable (AttemptOutcome, RetryContext) async -> RetryDecision,
        record: ([AttemptRecord]) -> Void = { _ in }
    ) async -> AttemptOutcome {
        let call: RetryCall
        do throws(HTTPError) {
            call = try RetryCall(request, of: self)
        } catch {
            return AttemptOutcome(.failure(error))
        }
        do throws(CancellationError) {
            // A stage further in may change the timeout.
            return try await withRetry(timeLeft: { call.remaining }, clock: call.clock) { attempt in
                guard let sent = call.prepare(attempt) else { return call.cancelled() }
                // A stage further in makes no attempts of its own within those that follow the first one (rule R24).
                return await attempt.number == 1 ? send(sent) : NestedRetry.within { await send(sent) }
            } decide: { _, outcome in
                guard call.isOwned else { return .finish(outcome, .cancelled) }
                defer { record(call.attempts) }
                if let end = call.decisionWithoutQuestion(on: outcome, decidesOnSuccess) {
                    return call.conclude(end, &outcome)
                }
                let context = call.context(of: outcome)
                let (answer, isLate) = await call.request.withinDeadline { [outcome] in await decide(outcome, context) }
                return call.conclude(call.rules(on: answer, outcome, context, isLate: isLate), &outcome)
            } onTimeout: { _, outcome, _ in
                call.late(outcome)
            }
            .ending(request)
        } catch {
            return call.cancelled().ending(request)
        }
    }

    /// Ends every wait between two attempts, and every call before its next attempt.
    ///
    /// A request that would have been sent again ends with ``HTTPError/Code/cancelled``.
    public func reset() async { resets.cancel() }
}

extension RetryStrategy {
    /// Whether the strategy decides by the head of a response and what a profile reads.
    ///
    /// Any strategy of the caller's own may look at the body.
    fileprivate var decidesByHead: Bool { self is RetryPolicy || self is Backoff || self is RetryAfterStrategy }
}

/// What is known of a call between two of its attempts.
///
/// Its methods wait for nothing: every wait is in the loop, ``Retry/run(_:send:decidesOnSuccess:decide:record:)``.
private final class RetryCall {
    /// The original request, with its deadline and its key.
    private(set) var request: HTTPRequest
    /// The clock of the delays; a reset of the stage ends them.
    let clock: TokenClock

    private let clocks: RetryClocks
    private let random: RandomSource
    private let budgets: Retry.Budgets?
    /// The deadline of the request.
    private var deadline: CallDeadline?
    private let token: CancellationToken
    private let isNested = NestedRetry.isInside
    private let began: Duration
    /// The running attempt, and when it began.
    private var attempt = Attempt.first
    private var attemptBegan: Duration
    /// When the last attempt ended, from the beginning of the call.
    private var elapsed = Duration.zero
    /// When the first of the attempts failed that have brought nothing since; nil: none has failed.
    private var failingSince: Duration?
    private var needsFreshConnection = false
    /// Whether the request is still the caller's; that of a durable queue may be another worker's after a delay.
    private(set) var isOwned = true
    private var log = AttemptLog()

    /// The budget of the origin; nil where there is none, or where a stage further in completes the URL.
    private var budget: RetryBudget?
    /// The cause of the last retry that the budget covered; a success refunds its cost to a budget of tokens.
    private var lastWithdrawal: RetryBudget.Cause?
    /// Whether a retry was covered by the budget and is not made yet.
    private var hasPendingWithdrawal = false
    /// What the budget knows this call by.
    private lazy var identity = RetryBudget.Call()
    /// Whether this stage deposits for the call; a stage further out or further in with the same budget does otherwise.
    private var deposits: Bool

    init(_ request: HTTPRequest, of stage: Retry) throws(HTTPError) {
        self.request = try request.withIdempotencyKeyWritten().beginningCall(on: stage.clocks)
        deadline = self.request.deadline
        token = stage.resets.current
        clock = stage.clocks.timer.cancelled(by: token)
        budget = stage.budgets?.budget(for: request.url)
        deposits = !isNested
        began = stage.clocks.now
        attemptBegan = began
        clocks = stage.clocks
        random = stage.random
        budgets = stage.budgets
    }

    /// The record of the attempts so far.
    var attempts: [AttemptRecord] { log.attempts }

    /// What is left of the timeout of the call; nil: it has none.
    var remaining: Duration? { deadline?.remaining }

    /// Returns the request of an attempt, made from the original one (rule R6); nil where it is no longer the caller's.
    func prepare(_ attempt: Attempt) -> HTTPRequest? {
        var request = request
        if attempt.number > 1 {
            isOwned = request.durableCall?.isOwned() ?? true
            guard isOwned else { return nil }
            attemptBegan = clocks.now
            hasPendingWithdrawal = false
        }
        self.attempt = request.durableCall?.continuing(attempt) ?? attempt
        if self.attempt.number > 1 { request.attemptNumber = self.attempt.number }
        if needsFreshConnection { request.needsFreshConnection = true }
        if let field = request.sendsAttemptNumber { request.headers[field] = "\(self.attempt.number)" }
        return request
    }

    // MARK: The decision

    /// Returns the decision on an outcome that needs no strategy; nil where the strategy decides.
    func decisionWithoutQuestion(
        on outcome: AttemptOutcome,
        _ decidesOnSuccess: (HTTPResult) -> Bool
    ) -> RetryDecision? {
        elapsed = clocks.now - began
        let result = outcome.result
        if outcome.isSuccess {
            // The caller's validation decides about a status that would be a failure without it.
            if result.isClientOrServerError || !decidesOnSuccess(result) { return .finish(.succeeded) }
        }
        if case .failure(let error) = result {
            if error.code == .cancelled { return .finish(.cancelled, [.cancellation]) }
            if error.code == .timedOut {
                learn(from: error.request)
                if request.isPastDeadline { return .finish(.deadlineExceeded, [.deadline]) }
            }
            // A stage that makes no attempts has no record that contains it.
            if error.attempts.isEmpty, let reason = error.code.endingReason { return .finish(reason, [.nesting]) }
        }
        return result.retriesAreExhausted ? .finish(.exhaustedWithin, [.nesting]) : nil
    }

    /// Returns the context of a question to the strategy.
    func context(of outcome: AttemptOutcome) -> RetryContext {
        learn(from: outcome.result.request)
        var context = context(of: outcome.result)
        context.details.isStatusAccepted = outcome.isStatusAccepted
        context.details.isNested = isNested
        if let progress = context.progress, progress > 0 { gained(progress) }
        context.failingFor = elapsed - (failingSince ?? elapsed)
        failingSince = failingSince ?? elapsed
        return context
    }

    private func context(of result: HTTPResult) -> RetryContext {
        RetryContext(request, result, attempt: attempt, remaining: remaining, now: clocks.wallNow)
    }

    /// Keeps what a stage further in, such as an adapter, has said of the request, for the attempts that follow.
    private func learn(from sent: HTTPRequest) {
        request.retainKey(of: sent)
        guard let timeout = request.changedTimeout(in: sent) else { return }
        request.timeout = timeout
        deadline = CallDeadline(after: timeout - elapsed, on: clocks.timer)
        request.deadline = deadline
    }

    /// Holds the strategy's answer against the rules on cancellation, time, repetition and the server's delay.
    func rules(
        on answer: RetryDecision,
        _ outcome: AttemptOutcome,
        _ context: RetryContext,
        isLate: Bool
    ) -> RetryDecision {
        // Nothing follows a cancellation or a reset, not even the answer of this attempt (rule R9).
        if Task.isCancelled || token.isCancelled { return .finish(.cancelled, [.cancellation]) }
        if outcome.isSuccess, answer.isFinish {
            let isPlain = [.strategyDeclined, .noStrategy, .nested].contains(answer.reason)
            return isPlain ? .finish(.succeeded) : answer
        }
        return isLate ? .finish(.deadlineExceeded, [.deadline]) : answer.applyingRules(context)
    }

    /// Applies the time left and the budget to a decision, writes the record, and returns what follows.
    ///
    /// A stream in the outcome is released before a delay, since it holds a connection.
    func conclude(_ decision: RetryDecision, _ outcome: inout AttemptOutcome) -> Attempt.Step<AttemptOutcome> {
        let result = outcome.result
        deposit(result)
        let step = affordable(decision, result)
        record(result, step, isSuccess: outcome.isSuccess)
        guard case .retry = step.decision.action else {
            outcome.result = self.result(of: step.decision, after: result).recorded(log)
            outcome.retryError = step.decision.error
            return .finish(outcome, step.decision.reason)
        }
        request.durableCall?.willWait?(request)
        needsFreshConnection = needsFreshConnection || step.decision.details.needsFreshConnection
        if request.deadline != nil { outcome = AttemptOutcome(result.withoutStream) }
        return .retry(after: step.delay, step.decision.reason, isFree: step.decision.isFree)
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
        var delay = wanted.sample(using: random)
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
        var step = Step(decision: decision, delay: delay)
        if let budget, decision.drawsOnBudget {
            var retry = RetryBudget.WantedRetry(after: RetryContext.Outcome(result), decision)
            retry.duration = elapsed - (attemptBegan - began)
            retry.delay = delay
            if decision.details.isLimitNamed { retry.call = identity }
            let longestWait = retry.namesTime ? request.retryAfterPolicy.cap : .longestDelay
            let timeLeft = remaining.map { $0 - .nanoseconds(1) } ?? .longestDelay
            let answer = budget.covered(retry, longestWait: min(timeLeft, longestWait))
            step.credit = answer.credit
            switch answer.withdrawal {
            case .granted: break
            case .grantedAfter(let turn): step.delay = max(delay, turn)
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
            (lastWithdrawal, hasPendingWithdrawal) = (retry.cause, true)
        }
        // The attempt is the outer loop's; what has been decided of it holds (rule R24).
        guard !decision.details.isLeftToOuterLoop else {
            return Step(decision: .finish(.nested, decision.rules.union([.nesting])), credit: step.credit)
        }
        return step
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
            repetition: isRetry || isSuccess ? nil : AttemptRecord.Repetition(context(of: result), result)
        )
        if let observer = request.attemptObserver, let last = log.attempts.last { observer(last) }
    }

    /// Deposits for the first attempt, unless a stage further in has deposited in the same budget.
    ///
    /// Only the result states whether one has, and which origin the request went to, so it is not done before.
    private func deposit(_ result: HTTPResult) {
        guard log.attempts.isEmpty else { return }
        if budget == nil { budget = budgets?.budget(for: result.request.url) }
        guard deposits, let budget else { return }
        deposits = result.creditedBudget != ObjectIdentifier(budget)
        guard deposits else { return }
        budget.deposit()
        log.creditedBudget = ObjectIdentifier(budget)
    }

    /// Notes what a resumption has brought.
    ///
    /// It has repeated nothing, so one that was worth its request gives back what it drew: a server that cuts off every
    /// connection after some megabytes is read as fast as it sends. One that brings less is bounded by the budget.
    private func gained(_ bytes: Int64) {
        failingSince = nil
        guard bytes >= Self.minimumRefundedProgress, let withdrawal = lastWithdrawal else { return }
        lastWithdrawal = nil
        budget?.refund(for: withdrawal)
    }

    private static let minimumRefundedProgress: Int64 = 16 << 10

    /// Refunds the cost of a retry that is not made.
    private func refund() {
        guard hasPendingWithdrawal, let lastWithdrawal else { return }
        hasPendingWithdrawal = false
        budget?.refund(for: lastWithdrawal)
    }

    // MARK: The other ends

    /// Returns the outcome of a call whose deadline leaves no time for the delay, or passed during it.
    func late(_ outcome: AttemptOutcome) -> AttemptOutcome {
        refund()
        log.endLast(.deadlineExceeded)
        var outcome = outcome
        outcome.result = HTTPError.deadlineExceeded(request, outcome.result).recorded(log)
        return outcome
    }

    /// Returns the outcome of a call that was cancelled, or reset, before an attempt.
    func cancelled() -> AttemptOutcome {
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
