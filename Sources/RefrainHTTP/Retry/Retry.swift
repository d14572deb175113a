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
public struct Retry: HTTPMiddleware {
    /// The strategy of requests that have none of their own; nil: these are sent once.
    public var strategy: (any RetryStrategy)? { ownStrategy?.strategy }
    /// The budgets that retries draw on; nil: no limit.
    public var budgets: Budgets? { configuration.budgets }

    /// Whether strategies other than ``RetryPolicy`` are called for successes, too; defaults to true.
    package var asksStrategyAboutSuccess = true

    private let ownStrategy: StrategyInUse?
    @usableFromInline let configuration: Configuration

    /// What all calls of a stage share; a class, so that each call holds one reference.
    @usableFromInline
    final class Configuration: Sendable {
        let budgets: Budgets?
        let clocks: RetryClocks
        let random: RandomSource
        let resets = CancellationTokenSource()

        init(_ budgets: Budgets?, _ clocks: RetryClocks, _ random: RandomSource) {
            self.budgets = budgets
            self.clocks = clocks
            self.random = random
        }

        // Not inlined: the compiler would put the call into the frame, which a task keeps in blocks of one kilobyte.
        @inline(never)
        @usableFromInline
        func begin(_ request: HTTPRequest, decidesOnSuccess: Bool) -> RetryExecution {
            RetryExecution(request, self, decidesOnSuccess: decidesOnSuccess)
        }
    }

    /// A strategy, and what is known of it by its type; a class, so that each request in back-off holds one reference.
    private final class StrategyInUse: AttemptDecider {
        let strategy: any RetryStrategy
        /// Whether it finishes on every success, so that it is not called for one.
        let isPolicy: Bool
        /// Whether it decides by the head of a response; any other strategy may look at its body.
        let decidesByHead: Bool

        init(_ strategy: any RetryStrategy) {
            self.strategy = strategy
            // These are structures, whose types can be compared: a cast takes ten times as long.
            let kind = type(of: strategy)
            isPolicy = kind == RetryPolicy.self
            decidesByHead = isPolicy || kind == Backoff.self || kind == RetryAfterStrategy.self
        }

        func decide(
            _ outcome: AttemptOutcome,
            in context: RetryContext,
            for request: HTTPRequest
        ) async -> RetryDecision {
            // An outer stage makes the attempts (rule R24).
            guard !context.isNested else { return .finish(.nested, [.nesting]) }
            return await strategy.decide(outcome.result, in: context)
        }

        func record(_ attempts: [AttemptRecord]) {}
    }

    /// Decides where there is no strategy.
    private final class NoStrategy: AttemptDecider {
        static let shared = NoStrategy()

        func decide(
            _ outcome: AttemptOutcome,
            in context: RetryContext,
            for request: HTTPRequest
        ) async -> RetryDecision { .finish(.noStrategy) }

        func record(_ attempts: [AttemptRecord]) {}
    }

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
        ownStrategy = strategy.map(StrategyInUse.init)
        configuration = Configuration(budgets, clocks, random)
    }

    /// Loads a request, as often as its strategy decides and the rules allow.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let inUse = strategyInUse(for: request)
        // A stage further out that has deferred the bodies reads them itself.
        let isInner = request.deferredBodies.contains(.transientErrors)
        let decidesOnSuccess = asksStrategyAboutSuccess && inUse?.isPolicy == false
        let sent = request.deferring(.transientErrors)
        let decider = inUse ?? NoStrategy.shared as any AttemptDecider
        let outcome = await run(sent, decidesOnSuccess: decidesOnSuccess, for: decider) { sent, isFirst in
            let result = await isFirst ? next.load(sent) : NestedRetry.within { await next.load(sent) }
            guard inUse?.decidesByHead == false, !isInner, case .success(let response) = result,
                response.status.rawValue >= 400, response.isDeferred(for: request)
            else { return AttemptOutcome(result) }
            return AttemptOutcome(await response.withBeginningOfBody())
        }
        guard !isInner, !outcome.isRedirect else { return outcome.result }
        return await collect(outcome, for: request)
    }

    // Apart, these two, because the frame of each request in back-off would have room for them.

    @inline(never)
    private func strategyInUse(for request: HTTPRequest) -> StrategyInUse? {
        request.retryStrategy.map(StrategyInUse.init) ?? ownStrategy
    }

    @inline(never)
    private func collect(_ outcome: AttemptOutcome, for request: HTTPRequest) async -> HTTPResult {
        await outcome.collected(for: request).result
    }

    /// Runs the attempts of one call, for this stage and for the pipeline of a session.
    ///
    /// - Parameters:
    ///   - request: the original request, which each attempt is made from (rule R6).
    ///   - decidesOnSuccess: whether `decider` is called for a success, too; it is always called for a failure.
    ///   - decider: returns what follows an attempt; the rules are applied to it. Receives the record.
    ///   - attempt: makes one attempt; it is given the request to send, and whether it is the first one. Later ones are
    ///     made within ``NestedRetry``; the first one needs no mark, since a stage further in that uses up its attempts
    ///     marks its outcome.
    ///
    /// Inlined, so that the closure needs no frame of its own: it lasts as long as the request.
    @inlinable
    @inline(__always)
    package func run(
        _ request: HTTPRequest,
        decidesOnSuccess: Bool,
        for decider: any AttemptDecider,
        attempt: (HTTPRequest, Bool) async -> AttemptOutcome
    ) async -> AttemptOutcome {
        let call = configuration.begin(request, decidesOnSuccess: decidesOnSuccess)
        // One that cannot be sent has its outcome already.
        guard call.outcome == nil else { return call.ending(request) }
        await withAttempts {
            let sent = call.prepare()
            call.outcome = await attempt(sent, call.isFirst)
        } decide: {
            // Two steps, because what waits for nothing needs no frame, and most calls end with their first attempt.
            if call.ends(decider) { return false }
            await call.decide(decider)
            return call.continues
        }
        return call.ending(request)
    }

    /// Ends every wait between two attempts, and every call before its next attempt.
    ///
    /// A request that would have been sent again ends with ``HTTPError/Code/cancelled``.
    public func reset() async { configuration.resets.cancel() }
}

/// Whether the present code runs within an attempt of an outer retry stage (rule R24).
package enum NestedRetry {
    @TaskLocal private static var attempt: ActiveOperation?

    /// Whether it does.
    package static var isInside: Bool { attempt?.isActive ?? false }

    /// Runs an operation as part of an attempt.
    package static func within<Result>(_ operation: () async -> Result) async -> Result {
        let attempt = ActiveOperation()
        defer { attempt.end() }
        return await $attempt.withValue(attempt, operation: operation)
    }

    /// Runs an operation that has attempts of its own, whichever attempt of another request began it.
    package static func outside<Result>(_ operation: () async -> Result) async -> Result {
        await $attempt.withValue(nil, operation: operation)
    }
}
