/// Lets identical requests that are under way at the same time share one exchange.
///
/// ```swift
/// let loader = ResetGuard() --> Deduplicate() --> Retry(RetryPolicy.recommended) --> CurlLoader()
/// ```
///
/// Requests are identical where method, URL, all header fields, credentials included, and all options are equal. Only
/// GET and HEAD without a body are shared, and only where the response is collected: streams, downloads and requests
/// with an option that cannot be compared, such as an ``HTTPRequest/attemptObserver``, pass by themselves. Nothing is
/// kept: a request that comes after the answer makes an exchange of its own.
///
/// Each caller may leave alone: whoever is cancelled returns at once with ``HTTPError/Code/cancelled``, and the others
/// notice nothing; the last one to leave cancels the exchange. Time limits count from the beginning of the exchange,
/// also for those who join later. The idea is from "HTTP in Swift".
///
/// What follows the stage may sign requests for a user. So a stage that stands in several chains or sessions shares
/// nothing between them, and a reset of one leaves the others alone; and once ``OAuth`` or ``BasicAuth`` further in has
/// forgotten its user, nobody joins what was begun for that one. A stage of your own that signs for another user from
/// some moment on, or holds one that does, belongs before this one; else reset the chain at that moment. Where a stage
/// of your own holds this one, and stands right before a loader that is a value, nothing is shared.
public struct Deduplicate: HTTPMiddleware {
    let exchanges: ExchangeTable
    /// Whether the stage stands in one chain, and that only.
    private let isInOneChain: Bool

    /// Makes the stage.
    public init() { self.init(ExchangeTable(), isInOneChain: false) }

    private init(_ exchanges: ExchangeTable, isInOneChain: Bool) {
        self.exchanges = exchanges
        self.isInOneChain = isInOneChain
    }

    /// How many shared exchanges are under way.
    public var numberOfExchanges: Int { exchanges.exchangeCount }

    /// How many requests wait for a shared exchange.
    public var numberOfWaitingRequests: Int { exchanges.callerCount }

    /// Joins the exchange of an identical request, or begins one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let key = ExchangeKey(request, before: next, isOnlyNext: isInOneChain) else {
            return await next.load(request)
        }
        if let result = await exchanges.load(request, key: key, next: next) { return result }
        return .failure(
            HTTPError(.cancelled, request: request, message: "cancelled while it shared an exchange")
        )
    }

    /// Ends all shared exchanges; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { await exchanges.reset(next: nil) }

    /// Ends all shared exchanges, and resets what follows.
    public func reset(next: any HTTPLoader) async { await exchanges.reset(next: next) }
}

extension Deduplicate: BelongsToChain {
    package func forChain() -> Deduplicate { Deduplicate(exchanges.part(), isInOneChain: true) }
}
