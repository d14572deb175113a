/// Tries a request again, as its strategy asks and as the rules allow.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended) --> CurlLoader()
/// ```
///
/// The stage asks the request's own strategy (``HTTPRequest/retryStrategy``), or else its own. It never sends a request
/// again that may not be sent twice, keeps to the server's delays, to the deadline and to the budget of the origin, and
/// writes every attempt down. A request in back-off holds neither a thread nor a slot of a ``Throttle`` further
/// in; cancelling its task or resetting the chain ends the wait at once.
public struct Retry: HTTPMiddleware {
    /// The strategy of requests that have none of their own; nil: these are sent once.
    public var strategy: (any HTTPRetryStrategy)? { settings.strategy }
    /// The budgets that retries draw on; nil: no limit.
    public var budgets: RetryBudgets? { settings.budgets }

    private let settings: RetrySettings
    private let waiting = SleepGenerations()

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - strategy: the strategy of requests that have none of their own.
    ///   - budgets: the budgets that retries draw on. By default all stages of the process share one for each origin.
    ///   - clocks: the clocks that waits are measured on and dates are compared with.
    ///   - random: where jitter comes from.
    public init(
        _ strategy: (any HTTPRetryStrategy)? = nil,
        budgets: RetryBudgets? = .shared,
        clocks: ClockPair = .system,
        random: RandomSource = .shared
    ) {
        settings = RetrySettings(strategy, budgets, clocks, random)
    }

    /// Loads a request, as often as its strategy and the rules want it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        let call: RetryCall
        do {
            call = try begin(request)
        } catch {
            return .failure(error)
        }
        return await run(call, next)
    }

    /// Begins a call, without a wait; `now` spares a reading of the clock.
    @inline(never)
    package func begin(_ request: HTTPRequest, at now: Duration? = nil) throws(HTTPError) -> RetryCall {
        RetryCall(
            request: try request.withIdempotencyKeyWritten(),
            settings: settings,
            generation: waiting.current,
            began: now
        )
    }

    /// Goes on with a call whose first try somebody else has made.
    @inline(never)
    package func goOn(
        _ call: RetryCall,
        after first: consuming HTTPResult,
        next: any HTTPLoader
    ) async -> HTTPResult {
        call.result = consume first
        return await run(call, next)
    }

    // Inlined, so that it has no frame of its own.
    @inline(__always)
    private func run(_ call: RetryCall, _ next: any HTTPLoader) async -> HTTPResult {
        let ended: Void? = await withRetryUnlessCancelled(
            deadline: call.remaining,
            clock: StageClock(settings.clocks.monotonic, call.generation),
            operation: { attempt in await call.send(attempt, to: next) },
            decide: { attempt, _ in await call.decide(attempt) },
            giveUp: { _, _, _ in call.giveUp() }
        )
        guard ended != nil, let result = call.result else { return .failure(call.cancelled()) }
        return result
    }

    /// Ends every wait between two tries, and sees to it that no request that has begun is tried again.
    ///
    /// A request that would have been tried again ends with ``HTTPError/Code/cancelled``.
    public func reset() async { waiting.endAll() }
}
