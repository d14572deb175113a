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
public struct Deduplicate: HTTPMiddleware {
    let exchanges = ExchangeTable()

    /// Makes the stage.
    public init() {}

    /// How many shared exchanges are under way.
    public var numberOfExchanges: Int { exchanges.exchangeCount }

    /// How many requests wait for a shared exchange.
    public var numberOfWaitingRequests: Int { exchanges.callerCount }

    /// Joins the exchange of an identical request, or begins one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard let key = ExchangeKey(request) else { return await next.load(request) }
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
