// SPDX-License-Identifier: Apache-2.0
/// Follows redirects, at most 20 for each call (rule R26).
///
/// ```swift
/// let loader = Redirect()
///     --> Retry(.recommended)
///     --> PlatformLoader()
/// ```
///
/// The stage belongs outside of ``Retry``: then each hop has attempts of its own, and a POST that was answered by a 303
/// is not posted again because the page behind it failed. Across origins, credentials and the fields named
/// by ``HTTPRequest/secretHeaders`` are dropped and do not come back. From https to http is an error, and so is a
/// `Location` that leads nowhere; without a `Location` the response is the answer (rule R8). A redirect with a
/// `Retry-After` waits, like any other answer (rule R18). One that the deadline leaves no time for ends the call with
/// ``HTTPError/Code/deadlineExceeded``: it is not the requested response.
///
/// What a stage further in, such as ``ModifyRequest``, says of a request's redirects counts as if the caller had said
/// it: ``HTTPRequest/followsRedirects``, ``HTTPRequest/redirectModifier`` and ``HTTPRequest/timeout``.
///
/// The origin is asked again, within the same limits, if no attempt could connect to a redirect's target, or if a later
/// attempt at the target of a temporary redirect was answered 401, 403, 404 or 410, as a URL is that has expired
/// (rule R33). A download goes on from its partial bytes.
public struct Redirect: HTTPMiddleware {
    /// How many redirects are followed in one call.
    public let maximumNumberOfRedirects: Int

    private let clocks: RetryClocks
    private let resets = CancellationTokenSource()

    /// The default limit: 20, as in browsers and URLSession.
    public static let defaultMaximum = 20

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - maximumNumberOfRedirects: how many redirects are followed. A negative number counts as 0. Defaults to 20.
    ///   - clocks: the clocks that waits are measured on and dates are compared with.
    public init(maximumNumberOfRedirects: Int = defaultMaximum, clocks: RetryClocks = .system) {
        self.maximumNumberOfRedirects = max(0, maximumNumberOfRedirects)
        self.clocks = clocks
    }

    /// Loads a request, and what its redirects point to.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await follow(request) { AttemptOutcome(await next.load($0)) }.result
    }

    /// Sends a request, and then what each redirect points to, for this stage and for the pipeline of a session.
    package func follow(
        _ request: HTTPRequest,
        send: (HTTPRequest) async -> AttemptOutcome
    ) async -> AttemptOutcome {
        guard request.followsRedirects else { return await send(request) }
        let call: RedirectCall
        do throws(HTTPError) {
            call = try RedirectCall(request, limit: maximumNumberOfRedirects, clocks)
        } catch {
            return AttemptOutcome(.failure(error))
        }
        let token = resets.current
        while !Task.isCancelled, !token.isCancelled {
            if let late = call.beginHop() { return late.ending(request) }
            // The outcome is handed over: a response that is read as it arrives holds a connection, which the next hop
            // may need.
            switch call.step(after: await send(call.current.deferring(.redirects))) {
            case .finish(let outcome):
                let complete = outcome.isRedirect ? await outcome.collected(for: request) : outcome
                return complete.ending(request)
            case .follow(let delay):
                // One that is cancelled ends early, and the loop with it.
                if delay > .zero { try? await clocks.timer.cancelled(by: token).sleep(for: delay) }
            }
        }
        return call.cancelled().ending(request)
    }

    /// Whether a response is one that ``follow(_:send:)`` goes on from.
    package static func follows(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard request.followsRedirects, case .follow = RedirectTarget(of: response, to: request) else { return false }
        return true
    }

    /// Whether a response is the answer to its request: neither followed nor refused.
    package static func isAnswer(_ response: HTTPResponse, to request: HTTPRequest) -> Bool {
        guard request.followsRedirects else { return true }
        guard case .none = RedirectTarget(of: response, to: request) else { return false }
        return true
    }

    /// Ends every delay that a redirect requested; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { resets.cancel() }
}

/// What is known of a call between two of its hops.
private final class RedirectCall {
    /// What follows a hop.
    enum Step {
        /// The call ends with this outcome.
        case finish(AttemptOutcome)
        /// The next hop follows after this delay.
        case follow(after: Duration)
    }

    /// The request of the next hop.
    private(set) var current: HTTPRequest

    private let limit: Int
    private let clocks: RetryClocks
    private let began: Duration
    private var hopBegan: Duration
    private var count = 0
    /// The request of the call.
    private var original: HTTPRequest
    /// How often it was sent as the first of a series of hops.
    private var timesAsked = 1
    private var hopsSinceOrigin = 0
    /// What a download had received by then.
    private var bytesWhenAsked: Int64 = 0
    /// Whether one of the redirects since then was temporary, so that the origin may name another target.
    private var isTemporary = false
    private var log = AttemptLog()
    /// The redirect that is followed, without its body; kept only for the error of a call whose time runs out.
    private var redirect: HTTPResult?

    init(_ request: HTTPRequest, limit: Int, _ clocks: RetryClocks) throws(HTTPError) {
        original = try request.withIdempotencyKeyWritten().beginningCall(on: clocks)
        current = original
        self.limit = limit
        self.clocks = clocks
        began = clocks.now
        hopBegan = began
    }

    private var bytesReceived: Int64 { original.download?.bytesReceived ?? 0 }

    /// Notes that a hop begins; returns the outcome of the call where its time ran out during the wait.
    func beginHop() -> AttemptOutcome? {
        guard count > 0 else { return nil }
        hopBegan = clocks.now
        guard let redirect, current.isPastDeadline else { return nil }
        log.endLast(.deadlineExceeded)
        return AttemptOutcome(HTTPError.deadlineExceeded(current, beforeFollowing: redirect).recorded(log))
    }

    /// Keeps the timeout of the call that a stage further in, such as an adapter, has set for it.
    private func learn(from sent: HTTPRequest) {
        guard let timeout = current.changedTimeout(in: sent) else { return }
        let deadline = CallDeadline(after: timeout - (clocks.now - began), on: clocks.timer)
        (current.timeout, original.timeout) = (timeout, timeout)
        (current.deadline, original.deadline) = (deadline, deadline)
    }

    /// Returns what follows a hop.
    func step(after outcome: consuming AttemptOutcome) -> Step {
        learn(from: outcome.result.request)
        if hopsSinceOrigin > 0, count < limit, mayNameAnother(after: outcome) { return askAgain(outcome) }
        guard case .success(let response) = outcome.result else { return finish(outcome, .finalFailure) }
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

    /// Whether the origin may name a target that answers, where this one did not.
    private func mayNameAnother(after outcome: AttemptOutcome) -> Bool {
        // A download that goes on between two expiries may ask as often as it needs to.
        let goesOn = bytesReceived > bytesWhenAsked
        if isTemporary, !outcome.isSuccess, RedirectTarget.hasExpired(outcome.result),
            RedirectTarget.isRepeatable(original),
            goesOn || timesAsked < outcome.result.attempts.count
        {
            return true
        }
        return RedirectTarget.isUnreachable(outcome.result, for: original, asked: timesAsked)
    }

    /// Goes back to the request that led to a target which did not answer, or not any more (rule R33).
    private func askAgain(_ outcome: AttemptOutcome) -> Step {
        record(outcome.result, .retry, .originAskedAgain, [.freshRoutes], .zero)
        count += 1
        timesAsked += 1
        bytesWhenAsked = bytesReceived
        hopsSinceOrigin = 0
        isTemporary = false
        current = original
        redirect = nil
        return .follow(after: .zero)
    }

    private func follow(_ target: HTTPRequest, _ outcome: AttemptOutcome) -> Step {
        let none = Duration.zero...Duration.zero
        let context = context(of: outcome.result)
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
            isTemporary = isTemporary || RedirectTarget.isTemporary(outcome.result)
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
        // The request that led here may have been processed, whatever its target answers; one that is sent again
        // because of this outcome may not.
        let isRepeated = reason == .originAskedAgain || reason == .succeeded
        log.add(
            result,
            start: hopBegan - began,
            duration: clocks.now - hopBegan,
            decision: decision,
            reason: reason,
            rules: rules,
            delay: delay,
            repetition: isRepeated ? nil : AttemptRecord.Repetition(context(of: result), result)
        )
    }

    private func context(of result: HTTPResult) -> RetryContext {
        let (attempt, remaining) = (Attempt(number: count + 1), current.deadline?.remaining)
        return RetryContext(current, result, attempt: attempt, remaining: remaining, now: clocks.wallNow)
    }

    /// Returns the outcome where the wait for the next hop was cancelled.
    func cancelled() -> AttemptOutcome {
        log.endLast(.cancelled)
        var error = HTTPError(.cancelled, request: current, bytesSent: log.attempts.isEmpty ? 0 : nil)
        error.attempts = log.attempts
        return AttemptOutcome(.failure(error))
    }
}

/// Changes the request of a redirect; returns nil for a redirect that must not be followed.
///
/// A stage may call it more than once for one redirect, so it must have no side effects.
public typealias RedirectModifier =
    @Sendable (
        _ original: HTTPRequest, _ redirected: HTTPRequest, _ response: HTTPResponse
    ) -> HTTPRequest?

extension HTTPRequest {
    /// Changes the requests of redirects, or refuses them; defaults to nil.
    public var redirectModifier: RedirectModifier? {
        get { self[option: RedirectModifierOption.self] }
        set { self[option: RedirectModifierOption.self] = newValue }
    }
}

private enum RedirectModifierOption: HTTPRequestOption {
    static let defaultValue: RedirectModifier? = nil
}
