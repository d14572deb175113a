// SPDX-License-Identifier: Apache-2.0
/// Decides whether and when a request is sent again.
///
/// ```swift
/// struct UntilReady: RetryStrategy {
///     func decide(
///         _ result: HTTPResult, in context: RetryContext
///     ) async -> RetryDecision {
///         guard case .success(let response) = result,
///             response.status == 202
///         else { return .finish() }
///         return context.attempt.number < 10
///             ? .retry(after: .seconds(1))
///             : .finish(.attemptsUsedUp)
///     }
/// }
/// ```
///
/// A strategy that needs no more than the result conforms to ``HTTPRetryStrategy``; one that is a closure is a
/// ``Retry/ClosureStrategy``. Neither protocol has a default for the method that a conformer writes, so a misspelt one
/// does not compile. ``RetryContext`` shows how a strategy is tested.
public protocol RetryStrategy: Sendable {
    /// Returns what follows an attempt.
    ///
    /// ``Retry`` calls it once for each attempt, also for a success. It ends early where the calling task is cancelled.
    func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision

    /// Whether the strategy is called for successes, too.
    ///
    /// Defaults to true; false saves the call where no success is ever repeated.
    var decidesOnSuccess: Bool { get }
}

extension RetryStrategy {
    /// True: a strategy may repeat a success, such as an answer that something is not ready yet.
    public var decidesOnSuccess: Bool { true }
}

/// A strategy that returns how long to wait, or nil to leave the outcome as it is.
///
/// ```swift
/// struct AfterOneSecond: HTTPRetryStrategy {
///     func retryDelay(for result: HTTPResult) -> Duration? {
///         guard case .success(let response) = result,
///             response.status == 503
///         else { return nil }
///         return .seconds(1)
///     }
/// }
/// ```
///
/// Whether the request may be sent again at all, timeouts and budgets are applied by the stage, whatever the strategy
/// returns. Of the strategy's delay and the server's (`Retry-After`, and the rate limit fields where the stage reads
/// them), the longer one applies (rule R17): a strategy can wait longer than the server requests, never shorter. A
/// strategy for one API therefore needs to read only fields that Refrain does not read, as `HTTPResponse.retryAfter`
/// reads `Retry-After`. Delays are durations; ``retryDelay(seconds:)`` makes one of a number, such as one parsed from
/// a field, and clamps what is not a valid time.
public protocol HTTPRetryStrategy<Delay>: RetryStrategy {
    /// What the delay is counted in: `Duration`, or `Double` for a number of seconds, such as a `TimeInterval`.
    associatedtype Delay: RetryDelayValue = Duration

    /// Returns the delay before another attempt; nil: none follows; zero or negative: it follows at once.
    func retryDelay(for result: HTTPResult) -> Delay?
}

/// A delay that a strategy returns: a `Duration`, or a number of seconds.
public protocol RetryDelayValue: Sendable {
    /// The delay; at once where a number of seconds is negative or no number.
    var retryDelay: Duration { get }
}

extension Duration: RetryDelayValue {
    /// The duration itself.
    public var retryDelay: Duration { self }
}

extension Double: RetryDelayValue {
    /// So many seconds.
    public var retryDelay: Duration { .delay(seconds: self) }
}

extension HTTPRetryStrategy {
    /// A delay from a number of seconds; at once where it is negative or no number, at most `Duration.longestDelay`.
    public func retryDelay(seconds: Double) -> Duration { .delay(seconds: seconds) }

    /// Returns the decision to retry after the delay, or to finish.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        retryDelay(for: result).map { .retry(after: $0.retryDelay) } ?? .finish()
    }
}

extension Retry {
    /// A strategy made from a closure that returns how long to wait, or nil to stop.
    ///
    /// ```swift
    /// request.retryStrategy = .delay { result, attempt in
    ///     attempt.number < 5 ? .seconds(1) : nil
    /// }
    /// ```
    public struct ClosureStrategy: RetryStrategy {
        private let delay: @Sendable (HTTPResult, Attempt) async -> Duration?

        /// Makes a strategy from a closure.
        public init(_ delay: @escaping @Sendable (HTTPResult, Attempt) async -> Duration?) { self.delay = delay }

        /// Returns the decision to retry after the closure's delay, or to finish.
        public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
            await delay(result, context.attempt).map { .retry(after: $0) } ?? .finish()
        }
    }
}

extension RetryStrategy where Self == Retry.ClosureStrategy {
    /// A strategy made from a closure that returns how long to wait, or nil to stop.
    public static func delay(
        _ delay: @escaping @Sendable (HTTPResult, Attempt) async -> Duration?
    ) -> Retry.ClosureStrategy {
        Retry.ClosureStrategy(delay)
    }
}

/// The strategy of one request, as an option: `request[option: RetryOption.self] = Backoff.immediately()`.
public enum RetryOption: HTTPRequestOption {
    /// None: the strategy of the stage counts, if it has one.
    public static var defaultValue: (any RetryStrategy)? { nil }
}

extension HTTPRequest {
    /// The strategy for this request.
    ///
    /// Defaults to nil: that of the stage, if it has one.
    public var retryStrategy: (any RetryStrategy)? {
        get { self[option: RetryOption.self] }
        set { self[option: RetryOption.self] = newValue }
    }
}

/// A schedule is a strategy, too: it retries what ``RetryPolicy/recommended`` retries, at its own delays.
extension Backoff: HTTPRetryStrategy {
    /// Returns the delay after a first attempt, without applying the rules on repetition.
    public func retryDelay(for result: HTTPResult) -> Duration? {
        RetryPolicy.recommended.with(schedule: self).retryDelay(for: result)
    }

    /// Returns the decision of ``RetryPolicy/recommended`` on this schedule.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        RetryPolicy.recommended.with(schedule: self).decide(in: context)
    }
}

/// The makers under the names of "HTTP in Swift", with delays as numbers of seconds.
extension Backoff {
    /// Retries after the same number of seconds each.
    public static func constant(delay seconds: Double, maximumNumberOfAttempts: Int? = 3) -> Backoff {
        constant(delay: .delay(seconds: seconds), maxAttempts: maximumNumberOfAttempts)
    }

    /// Retries without a delay.
    public static func immediately(maximumNumberOfAttempts: Int) -> Backoff {
        immediately(maxAttempts: maximumNumberOfAttempts)
    }

    /// Retries after delays that double, from a number of seconds on.
    public static func exponential(delay seconds: Double, maximumNumberOfAttempts: Int? = 3) -> Backoff {
        exponential(from: .delay(seconds: seconds), maxAttempts: maximumNumberOfAttempts)
    }
}

extension RetryStrategy where Self == Backoff {
    /// No retries.
    public static var never: Backoff { Backoff.never }

    /// Retries without a delay.
    public static func immediately(maxAttempts: Int? = 3) -> Backoff { Backoff.immediately(maxAttempts: maxAttempts) }

    /// Retries after the same delay each.
    public static func constant(delay: Duration, maxAttempts: Int? = 3) -> Backoff {
        Backoff.constant(delay: delay, maxAttempts: maxAttempts)
    }

    /// Retries after delays that grow by a factor.
    public static func exponential(from base: Duration, factor: Double = 2, maxAttempts: Int? = 3) -> Backoff {
        Backoff.exponential(from: base, factor: factor, maxAttempts: maxAttempts)
    }

    /// Retries after the same number of seconds each.
    public static func constant(delay seconds: Double, maximumNumberOfAttempts: Int? = 3) -> Backoff {
        Backoff.constant(delay: seconds, maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Retries without a delay.
    public static func immediately(maximumNumberOfAttempts: Int) -> Backoff {
        Backoff.immediately(maxAttempts: maximumNumberOfAttempts)
    }

    /// Retries after delays that double, from a number of seconds on.
    public static func exponential(delay seconds: Double, maximumNumberOfAttempts: Int? = 3) -> Backoff {
        Backoff.exponential(delay: seconds, maximumNumberOfAttempts: maximumNumberOfAttempts)
    }

    /// Retries after the delays of a list.
    public static func explicit(_ delays: [Duration], maxAttempts: Int? = nil) -> Backoff {
        Backoff.explicit(delays, maxAttempts: maxAttempts)
    }
}

/// A strategy that waits for the delay in the response's fields, and on a schedule after responses without one.
///
/// It retries what ``RetryPolicy/recommended`` retries. In addition it configures how the server's rate-limit fields
/// are read, for servers whose fields the automatic reading does not fit.
public struct RetryAfterStrategy: HTTPRetryStrategy {
    private let policy: RetryPolicy

    /// Makes the strategy.
    ///
    /// - Parameters:
    ///   - fields: how the server's rate-limit fields are read (rule R19).
    ///   - fallback: the schedule for responses without a delay, and the number of attempts.
    public init(fields: RateLimitFields = RateLimitFields(), fallback: Backoff = .standard) {
        policy = RetryPolicy(criteria: .rules(), schedule: fallback, rateLimitFields: fields)
    }

    /// Returns the delay after a first attempt, without applying the rules on repetition.
    public func retryDelay(for result: HTTPResult) -> Duration? { policy.retryDelay(for: result) }

    /// Returns the policy's decision.
    public func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        policy.decide(in: context)
    }
}
