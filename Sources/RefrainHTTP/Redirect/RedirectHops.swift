/// The hops of one call: the next request, and the record of the previous ones.
///
/// A class, so that the frame of a call that waits for its response holds one reference.
@usableFromInline
final class RedirectHops {
    /// What follows a hop.
    private enum Step {
        /// The call ends with this outcome.
        case finish(AttemptOutcome)
        /// The next hop follows after this delay.
        case follow(after: Duration)
    }

    /// Apart: few calls follow a redirect, and a result takes 33 bytes.
    private enum Followed {
        case none
        indirect case redirect(HTTPResult)
    }

    /// The request of the next hop.
    private var current: HTTPRequest

    /// Whether redirects are followed; otherwise there is one hop, whose outcome is that of the call.
    private let follows: Bool
    private let limit: Int
    private let clocks: RetryClocks
    /// The token of the sleeps of the stage that the call belongs to; a reset cancels it.
    private let token: CancellationToken
    private let began: Duration
    private var hopBegan: Duration
    /// The delay before the next hop.
    private var delay = Duration.zero
    private var count = 0
    /// The request of the call.
    private let original: HTTPRequest
    /// How often it was sent as the first of a series of hops.
    private var timesAsked = 1
    private var hopsSinceOrigin = 0
    private var log = AttemptLog()
    /// The redirect that is followed, without its body; kept only for the error of a call whose time runs out.
    private var redirect: HTTPResult? {
        get { if case .redirect(let result) = followed { result } else { nil } }
        set { followed = newValue.map(Followed.redirect) ?? .none }
    }
    private var followed = Followed.none
    /// The outcome of the call.
    private var outcome: AttemptOutcome?

    /// Begins a call.
    init(
        _ request: HTTPRequest,
        _ limit: Int,
        _ clocks: RetryClocks,
        _ token: CancellationToken
    ) {
        follows = request.followsRedirects
        var first = request
        do throws(HTTPError) {
            if follows { first = try request.withIdempotencyKeyWritten().beginningCall(on: clocks) }
        } catch {
            outcome = AttemptOutcome(.failure(error))
        }
        current = first
        original = first
        self.limit = limit
        self.clocks = clocks
        self.token = token
        began = clocks.now
        hopBegan = began
    }

    /// Returns the request of the next hop; nil: the call was cancelled, its time ran out during the wait, or its
    /// request is one that cannot be sent.
    @usableFromInline
    func next() -> HTTPRequest? {
        guard outcome == nil else { return nil }
        guard follows else { return current }
        guard !Task.isCancelled, !token.isCancelled, begin() else { return nil }
        return current.deferring(.redirects)
    }

    private func begin() -> Bool {
        guard count > 0 else { return true }
        hopBegan = clocks.now
        guard let redirect, current.isPastDeadline else { return true }
        log.endLast(.deadlineExceeded)
        outcome = AttemptOutcome(HTTPError.deadlineExceeded(current, beforeFollowing: redirect).recorded(log))
        return false
    }

    /// Makes the next hop ready, or ends the call; returns whether there is something to wait for before.
    @inline(never)
    @usableFromInline
    func mustWait(after outcome: consuming AttemptOutcome) -> Bool {
        guard follows else {
            self.outcome = outcome
            return false
        }
        switch step(after: outcome) {
        case .finish(let last):
            let isRedirect = last.isRedirect
            self.outcome = last
            return isRedirect
        case .follow(let delay):
            self.delay = delay
            return delay > .zero
        }
    }

    /// Waits for a redirect's `Retry-After`, or reads the deferred body of a redirect that is the answer.
    ///
    /// A delay that is cancelled ends early, and with it the call.
    @inline(never)
    @usableFromInline
    func wait(for request: HTTPRequest) async {
        guard let outcome else {
            try? await clocks.timer.cancelled(by: token).sleep(for: delay)
            return
        }
        self.outcome = await outcome.collected(for: request)
    }

    /// Returns the outcome of the call: the one of its last hop, or of an interruption.
    @usableFromInline
    func ending(_ request: HTTPRequest) -> AttemptOutcome {
        guard follows else { return outcome ?? cancelled() }
        return (outcome ?? cancelled()).ending(request)
    }

    private func step(after outcome: consuming AttemptOutcome) -> Step {
        guard case .success(let response) = outcome.result else {
            guard hopsSinceOrigin > 0, count < limit,
                RedirectTarget.isUnreachable(outcome.result, for: original, asked: timesAsked)
            else { return finish(outcome, .finalFailure) }
            return askAgain(outcome)
        }
        switch RedirectTarget(of: response, to: current) {
        case .none:
            return finish(outcome, outcome.isSuccess ? .succeeded : .finalStatus)
        case .refused(let code, let message):
            return refuse(outcome, code, message, response)
        case .follow(let target):
            guard count < limit else {
                let message = "more than \(limit) redirects, the last one to \(URLText.redacted(target.url))"
                return refuse(outcome, .httpTooManyRedirects, message, response)
            }
            return follow(target, outcome)
        }
    }

    /// Goes back to the request that led to a target which no attempt could connect to (rule R33).
    private func askAgain(_ outcome: AttemptOutcome) -> Step {
        record(outcome.result, .retry, .originAskedAgain, [.freshRoutes], .zero)
        count += 1
        timesAsked += 1
        hopsSinceOrigin = 0
        current = original
        redirect = nil
        return .follow(after: .zero)
    }

    private func follow(_ target: HTTPRequest, _ outcome: AttemptOutcome) -> Step {
        let attempt = Attempt(number: count + 1)
        let context = RetryContext(
            current,
            outcome.result,
            attempt: attempt,
            remaining: current.deadline?.remaining,
            now: clocks.wallNow
        )
        let none = Duration.zero...Duration.zero
        let decision = RetryTiming.decide(context, schedule: none, reason: .redirected, rules: [.redirects])
        switch decision.action {
        case .retryAfterTooLong(let date):
            let error = HTTPError.retryAfterTooLong(until: date, current, outcome.result)
            return finish(outcome, .retryAfterTooLong, decision.rules, .failure(error))
        case .finish:
            let result = HTTPError.deadlineExceeded(current, beforeFollowing: outcome.result)
            return finish(outcome, decision.reason, decision.rules, result)
        case .retry(let wanted):
            let delay = wanted.range.lowerBound
            record(outcome.result, .retry, .redirected, decision.rules, delay)
            count += 1
            hopsSinceOrigin += 1
            current = target
            redirect = target.deadline == nil ? nil : outcome.result.withoutStream
            return .follow(after: delay)
        }
    }

    private func refuse(
        _ outcome: AttemptOutcome,
        _ code: HTTPError.Code,
        _ message: String,
        _ response: HTTPResponse
    ) -> Step {
        let sent = response.exchange.bytesSent
        var response = response
        response.dropStream()
        let error = HTTPError(code, request: current, response: response, message: message, bytesSent: sent)
        return finish(outcome, .finalFailure, [.transientFailure, .redirects], .failure(error))
    }

    /// Ends the call with the outcome of the last hop, or with `result` in its place.
    private func finish(
        _ outcome: AttemptOutcome,
        _ reason: RetryReason,
        _ rules: Rules = [],
        _ result: HTTPResult? = nil
    ) -> Step {
        // A stage further in has recorded the only hop.
        if count == 0, rules.isEmpty, !outcome.result.attempts.isEmpty { return .finish(outcome) }
        // The reason of a stage further in is more precise, unless this stage ends the call.
        let reason = rules.isEmpty ? outcome.result.attempts.last?.reason ?? reason : reason
        record(outcome.result, .finish, reason, rules, .zero)
        var outcome = outcome
        outcome.result = (result ?? outcome.result).recorded(log)
        return .finish(outcome)
    }

    private func record(
        _ result: HTTPResult,
        _ decision: AttemptRecord.Decision,
        _ reason: RetryReason,
        _ rules: Rules,
        _ delay: Duration
    ) {
        // The target's failure says nothing of a request that was processed before it.
        let context = RetryContext(current, result, attempt: .first, remaining: nil, now: clocks.wallNow)
        let isRepeated = reason == .originAskedAgain || reason == .succeeded
        log.add(
            result,
            start: hopBegan - began,
            duration: clocks.now - hopBegan,
            decision: decision,
            reason: reason,
            rules: rules,
            delay: delay,
            repetition: isRepeated ? nil : AttemptRecord.Repetition(context, result)
        )
    }

    /// Returns the outcome where the wait for the next hop was cancelled.
    private func cancelled() -> AttemptOutcome {
        log.endLast(.cancelled)
        var error = HTTPError(.cancelled, request: current, bytesSent: log.attempts.isEmpty ? 0 : nil)
        error.attempts = log.attempts
        return AttemptOutcome(.failure(error))
    }
}
