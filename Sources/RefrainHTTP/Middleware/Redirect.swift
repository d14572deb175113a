/// Follows redirects, at most 20 for each call (rule R26).
///
/// ```swift
/// let loader = Redirect() --> Retry(RetryPolicy.recommended) --> CurlLoader()
/// ```
///
/// The stage belongs outside of ``Retry``: then each hop has tries of its own, and a POST that was answered by a 303 is
/// not posted again because the page behind it failed. Across origins, credentials and the fields named
/// by ``HTTPRequest/secretHeaders`` are dropped and do not come back. From https to http is an error. A redirect with a
/// `Retry-After` waits, like any other answer (rule R18). One that the deadline leaves no time for ends the call with
/// ``HTTPError/Code/deadlineExceeded``: it is not what was asked for.
public struct Redirect: HTTPMiddleware {
    /// How many redirects are followed in one call.
    public let maximumNumberOfRedirects: Int

    private let clocks: ClockPair
    private let waiting = SleepGenerations()

    /// How many redirects are followed unless told otherwise: 20, as browsers and URLSession do.
    public static let defaultMaximum = 20

    /// Makes the stage with the default limit.
    public init(clocks: ClockPair = .system) {
        maximumNumberOfRedirects = Self.defaultMaximum
        self.clocks = clocks
    }

    /// Makes the stage.
    ///
    /// - Throws: `InvalidArgument` for a negative number.
    public init(maximumNumberOfRedirects: Int, clocks: ClockPair = .system) throws(InvalidArgument) {
        guard maximumNumberOfRedirects >= 0 else {
            throw InvalidArgument(
                "maximumNumberOfRedirects",
                is: maximumNumberOfRedirects,
                expected: "zero or more"
            )
        }
        self.maximumNumberOfRedirects = maximumNumberOfRedirects
        self.clocks = clocks
    }

    /// Loads a request, and what its redirects point to.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let first: FirstHop
        do {
            first = try firstHop(request, isCancelled: Task.isCancelled)
        } catch {
            return .failure(error)
        }
        let result = await next.load(first.request)
        if first.isLast(result) { return result }
        return await follow(first, consume result, next)
    }

    /// Makes the request ready for its first hop; what needs no wait is done apart, so that a request that waits does
    /// not keep it.
    @inline(never)
    package func firstHop(_ request: HTTPRequest, isCancelled: Bool) throws(HTTPError) -> FirstHop {
        guard request.followsRedirects else { return FirstHop(request: request, began: nil) }
        guard !isCancelled else { throw Self.cancelled(request) }
        return FirstHop(request: try request.withIdempotencyKeyWritten(), began: clocks.now)
    }

    /// Goes from hop to hop; the first one is made already.
    ///
    /// Its result is handed over for good: a response that is read as it arrives holds a connection, which the next hop
    /// may need (rule R28).
    @inline(never)
    package func follow(
        _ first: FirstHop,
        _ result: consuming HTTPResult,
        _ next: any HTTPLoader
    ) async -> HTTPResult {
        let call = RedirectCall(first, consume result, limit: maximumNumberOfRedirects, clocks: clocks)
        do {
            return try await withRetry(
                deadline: call.remaining,
                clock: clocks.monotonic.grouped(in: waiting.current),
                operation: { attempt in await call.send(attempt, to: next) },
                decide: { attempt, result in call.decide(attempt, result) },
                giveUp: { _, result, _ in call.giveUp(result) }
            )
        } catch {
            return .failure(call.cancelled())
        }
    }

    private static func cancelled(_ request: HTTPRequest) -> HTTPError {
        HTTPError(.cancelled, request: request, bytesSent: 0)
    }

    /// Ends every wait that a redirect asked for; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { waiting.endAll() }
}

/// The hop that every call makes.
package struct FirstHop {
    /// What is sent.
    package fileprivate(set) var request: HTTPRequest
    /// When it began; nil where no redirect is followed.
    package let began: Duration?

    /// Takes over the call's own request, which says whom it is made for.
    package mutating func takeOver(_ request: HTTPRequest) { self.request = request }

    /// Whether the hop's outcome is the call's: an answer that points nowhere, with its record, as nearly all are.
    @inline(never)
    package func isLast(_ result: HTTPResult) -> Bool {
        guard began != nil else { return true }
        guard !result.attempts.isEmpty else { return false }
        guard case .success(let response) = result else { return true }
        guard case .none = RedirectTarget(of: response, to: request) else { return false }
        return true
    }
}

/// One request on its way from hop to hop; an object for the reason that stands at ``RetryCall``.
private final class RedirectCall {
    private var current: HTTPRequest
    private let limit: Int
    private let clocks: ClockPair
    private let deadline: Duration?
    private let began: Duration
    private var hopBegan: Duration
    private var hops = 0
    private var record = CallRecord()
    private var firstResult: HTTPResult?

    /// A call whose first hop began then, and came to this result.
    init(_ first: FirstHop, _ result: HTTPResult, limit: Int, clocks: ClockPair) {
        let began = first.began ?? clocks.now
        current = first.request
        self.limit = limit
        self.clocks = clocks
        self.began = began
        deadline = first.request.deadline
        hopBegan = began
        firstResult = result
    }

    /// What is left of the deadline.
    var remaining: Duration? { deadline.map { $0 - (clocks.now - began) } }

    func send(_ attempt: Attempt, to next: any HTTPLoader) async -> HTTPResult {
        if let result = firstResult.take() { return result }
        prepare(attempt)
        return await next.load(current)
    }

    @inline(never)
    private func prepare(_ attempt: Attempt) {
        if attempt.number > 1 { hopBegan = clocks.now }
        // The stages further in see what is left of the deadline, not all of it again.
        if let remaining = attempt.remaining { current.deadline = remaining }
    }

    @inline(never)
    func decide(_ attempt: Attempt, _ result: HTTPResult) -> RetryDecision<HTTPResult> {
        guard case .success(let response) = result else { return finish(result, result, .finalFailure) }
        switch RedirectTarget(of: response, to: current) {
        case .none:
            return finish(result, result, response.status.rawValue < 400 ? .succeeded : .finalStatus)
        case .refused(let code, let message):
            return finish(result, refusal(code, message, response), .finalFailure, Rules(8, 26))
        case .follow(let target):
            guard hops < limit else {
                let message = "more than \(limit) redirects, the last one to \(URLText.redacted(target.url))"
                return finish(result, refusal(.httpTooManyRedirects, message, response), .finalFailure, Rules(8, 26))
            }
            return follow(target, attempt, result)
        }
    }

    private func follow(
        _ target: HTTPRequest,
        _ attempt: Attempt,
        _ result: HTTPResult
    ) -> RetryDecision<HTTPResult> {
        let facts = RetryFacts(current, result, attempt: attempt, remaining: remaining, now: clocks.wallNow)
        let none = Duration.zero...Duration.zero
        let judgement = RetryTiming.judge(facts, schedule: none, reason: .redirected, rules: Rules(26))
        switch judgement.action {
        case .comeBack(let date):
            let error = CallEnding.comeBack(current, result, at: date)
            return finish(result, .failure(error), .comeBackLater, judgement.rules)
        case .finish:
            let outcome = CallEnding.deadlineExceeded(current, beforeFollowing: result)
            return finish(result, outcome, judgement.reason, judgement.rules)
        case .retry(let wait):
            let delay = wait.range.lowerBound
            let start = hopBegan - began
            record.add(
                result,
                start: start,
                duration: clocks.now - hopBegan,
                decision: .retry,
                reason: .redirected,
                rules: judgement.rules,
                delay: delay
            )
            hops += 1
            current = target
            return .retry(after: delay, .redirected, isFree: true)
        }
    }

    private func refusal(_ code: HTTPError.Code, _ message: String, _ response: HTTPResponse) -> HTTPResult {
        .failure(
            HTTPError(
                code,
                request: current,
                response: response,
                message: message,
                bytesSent: response.exchange.bytesSent
            )
        )
    }

    /// Ends with `outcome`; `result` is what the last hop brought.
    private func finish(
        _ result: HTTPResult,
        _ outcome: HTTPResult,
        _ reason: RetryReason,
        _ rules: Rules = []
    ) -> RetryDecision<HTTPResult> {
        let isPlain = hops == 0 && rules.isEmpty
        if isPlain, !result.attempts.isEmpty { return .finish(outcome, reason) }
        // Stages further in know better why they ended, unless it is this stage that ends the call.
        let reason = rules.isEmpty ? (result.attempts.last?.reason ?? reason) : reason
        record.add(
            result,
            start: hopBegan - began,
            duration: clocks.now - hopBegan,
            decision: .finish,
            reason: reason,
            rules: rules
        )
        return .finish(outcome.recorded(record.attempts), reason)
    }

    func giveUp(_ result: HTTPResult) -> HTTPResult {
        record.endLast(.deadlineExceeded)
        return CallEnding.deadlineExceeded(current, beforeFollowing: result).recorded(record.attempts)
    }

    func cancelled() -> HTTPError {
        // Cancelled before anything was decided on the first hop: it was made all the same.
        if let result = firstResult.take() {
            record.add(
                result,
                start: .zero,
                duration: clocks.now - began,
                decision: .finish,
                reason: .cancelled,
                rules: Rules(9)
            )
        }
        record.endLast(.cancelled)
        var error = HTTPError(.cancelled, request: current, bytesSent: record.attempts.isEmpty ? 0 : nil)
        error.attempts = record.attempts
        return error
    }
}
