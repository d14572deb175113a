#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
