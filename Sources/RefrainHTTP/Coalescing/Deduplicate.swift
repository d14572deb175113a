// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Coalesces identical requests in flight into one exchange.
///
/// ```swift
/// let loader = ResetGuard()
///     --> Deduplicate()
///     --> Retry(RetryPolicy.recommended)
///     --> PlatformLoader()
/// ```
///
/// Requests are identical if method, URL, all header fields including credentials, and all options are equal. Only GET
/// and HEAD requests without a body and with a collected response are coalesced; streams, downloads and requests with
/// options that are not Hashable, such as ``HTTPRequest/attemptObserver``, are forwarded separately. Responses are not
/// cached: a request that starts after the exchange ended starts a new one.
///
/// A cancelled request returns ``HTTPError/Code/cancelled`` immediately without affecting the others; when all of them
/// are cancelled, the exchange is cancelled. Time limits start with the exchange, also for requests that join later.
///
/// The stages after this one may authenticate requests. A stage that is part of several chains or sessions therefore
/// shares no exchange between them, and the reset of one does not affect the others. After ``OAuth`` or ``BasicAuth``
/// further along the chain has discarded its credential, requests do not join exchanges started before. Put a custom
/// stage that changes its user before this one, or reset the chain when the user changes. If a custom stage wraps this
/// one directly before a loader that is a value, no exchanges are shared.
public struct Deduplicate: HTTPMiddleware {
    let exchanges: CoalescingTable
    /// Whether the stage is part of exactly one chain.
    private let isInOneChain: Bool

    /// Makes the stage.
    public init() { self.init(CoalescingTable(), isInOneChain: false) }

    private init(_ exchanges: CoalescingTable, isInOneChain: Bool) {
        self.exchanges = exchanges
        self.isInOneChain = isInOneChain
    }

    /// The number of shared exchanges in flight.
    public var numberOfExchanges: Int { exchanges.exchangeCount }

    /// The number of requests that wait for a shared exchange.
    public var numberOfWaitingRequests: Int { exchanges.callerCount }

    /// Joins the exchange of an identical request, or starts one.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await load(request, next: next, onJoin: nil)
    }

    /// Joins the exchange of an identical request, or begins one; `onJoin` is called when another request joins it.
    package func load(
        _ request: HTTPRequest,
        next: any HTTPLoader,
        onJoin: (@Sendable () -> Void)?
    ) async -> HTTPResult {
        guard let key = ExchangeKey(request, before: next, isOnlyNext: isInOneChain) else {
            return await next.load(request)
        }
        // Requests that share a response get its complete body.
        var request = request
        request.deferredBodies = []
        if let result = await exchanges.load(request, key: key, next: next, onJoin: onJoin) { return result }
        return .failure(
            HTTPError(.cancelled, request: request, message: "cancelled while it shared an exchange")
        )
    }

    /// Cancels all shared exchanges; their requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { await exchanges.reset() }

    /// Cancels all shared exchanges, and resets `next`.
    public func reset(next: any HTTPLoader) async { await exchanges.reset { await next.reset() } }

    /// Ends all shared exchanges, and calls `rest`, which resets what follows.
    package func reset(_ rest: @escaping @Sendable () async -> Void) async { await exchanges.reset(rest) }
}

extension Deduplicate: PerChainMiddleware {
    package func forChain() -> Deduplicate { Deduplicate(exchanges.part(), isInOneChain: true) }
}

/// The identity of a request for coalescing.
///
/// Requests with equal keys may share one exchange.
struct ExchangeKey: Hashable, @unchecked Sendable {
    // @unchecked Sendable: the options are values of Sendable types, which the erasure to AnyHashable hides.
    private let method: HTTPMethod
    private let url: URL
    private let headers: HTTPHeaders
    private let options: [ObjectIdentifier: AnyHashable]
    private let isRetried: Bool
    private let refreshers: Set<ObjectIdentifier?>
    private let identity: ChainIdentity

    /// Makes the key of a request; nil if its exchange cannot be shared.
    ///
    /// That is so for methods other than GET and HEAD, for bodies that are streams or files, and for options that are
    /// not Hashable, such as downloads and closures, since their equality is unknown.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - next: the loader it is forwarded to. Different loaders give different keys.
    ///   - isOnlyNext: whether the key is compared only with those of requests to the same loader. Otherwise the key is
    ///     nil for a loader without an identity.
    init?(_ request: HTTPRequest, before next: any HTTPLoader, isOnlyNext: Bool) {
        guard request.method == .get || request.method == .head, request.body.isEmpty, !request.streamsResponse,
            let options = request.options.comparable
        else { return nil }
        identity = ChainIdentity(before: next)
        guard isOnlyNext || identity.isKnown else { return nil }
        method = request.method
        url = request.url
        headers = request.headers
        self.options = options
        // Values that later stages treat differently make different keys.
        isRetried = NestedRetry.isInside || OuterRetry.isInside
        refreshers = Set(AuthenticationScope.operations.lazy.filter(\.isActive).map(\.owner))
    }
}
