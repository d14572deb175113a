/// Decides whether and when a request is tried again.
///
/// The short form is enough for most: answer how long to wait, or nil to leave the outcome as it is.
///
/// ```swift
/// struct AfterOneSecond: HTTPRetryStrategy {
///     func retryDelay(for result: HTTPResult) -> Duration? {
///         guard case .success(let response) = result, response.status == 503 else { return nil }
///         return .seconds(1)
///     }
/// }
/// ```
///
/// A strategy says what it would like. What may be sent again at all, how long the server wants to be left alone,
/// deadlines and budgets are seen to by the stage that asks. The idea is from "HTTP in Swift".
public protocol HTTPRetryStrategy: Sendable {
    /// The wait before another try; nil: none; zero or negative: at once.
    func retryDelay(for result: HTTPResult) -> Duration?

    /// The wait before another try, for strategies that count; nil: none.
    func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration?

    /// The whole decision, for strategies that know the rules themselves.
    func judge(_ facts: RetryFacts, for result: HTTPResult) -> RetryJudgement

    /// The whole decision, for strategies that must wait for it, or that need the options of the request.
    ///
    /// It is asked once for each attempt, by ``Retry``. Cancellation of the calling task should end it.
    func judge(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) async -> RetryJudgement
}

extension HTTPRetryStrategy {
    /// Asks the form that does not count.
    public func retryDelay(for result: HTTPResult, attempt: Attempt) -> Duration? {
        retryDelay(for: result)
    }

    /// Asks the form that needs no wait.
    public func judge(_ facts: RetryFacts, for result: HTTPResult, of request: HTTPRequest) async -> RetryJudgement {
        judge(facts, for: result)
    }

    /// Asks for the delay, and holds it against the rules on what may be sent again and on the server's delays.
    public func judge(_ facts: RetryFacts, for result: HTTPResult) -> RetryJudgement {
        guard let delay = retryDelay(for: result, attempt: facts.attempt) else {
            if case .success(let response) = result, response.status.rawValue < 400 { return .finish(.succeeded) }
            return .finish(.strategyDeclined)
        }
        switch ReplaySafety.judge(facts) {
        case .unsafe(let reason, let rules):
            return .finish(reason, rules)
        case .safe(let rules):
            let delay = delay.clampedToDelay
            return RetryTiming.judge(facts, schedule: delay...delay, reason: .strategyRetried, rules: rules)
        }
    }
}

private enum RetryOption: HTTPRequestOption {
    static var defaultValue: (any HTTPRetryStrategy)? { nil }
}

extension HTTPRequest {
    /// The strategy for this request; nil: that of the stage, if it has one.
    public var retryStrategy: (any HTTPRetryStrategy)? {
        get { self[option: RetryOption.self] }
        set { self[option: RetryOption.self] = newValue }
    }
}
