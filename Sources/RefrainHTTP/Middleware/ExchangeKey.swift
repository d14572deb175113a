#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// All that makes two requests the same: equal keys may share one exchange.
struct ExchangeKey: Hashable, @unchecked Sendable {
    // @unchecked Sendable: the options are values of Sendable types; only their erasure to AnyHashable hides it.
    private let method: HTTPMethod
    private let url: URL
    private let headers: HTTPHeaders
    private let options: [ObjectIdentifier: AnyHashable]
    private let isRetried: Bool
    private let desks: Set<ObjectIdentifier?>
    private let place: ChainPlace

    /// The key of a request; nil where its exchange cannot be shared.
    ///
    /// That is so for unsafe methods, for bodies in either direction that are streams or files, and for options that
    /// cannot be compared, such as downloads and closures: what is not known to be equal is taken to be different.
    ///
    /// - Parameters:
    ///   - request: the request.
    ///   - next: what it is handed on to. Two loaders give two keys.
    ///   - isOnlyNext: whether the key is compared only with those of requests that are handed on to the same loader.
    ///     Else there is none where a loader cannot be told from others.
    init?(_ request: HTTPRequest, before next: any HTTPLoader, isOnlyNext: Bool) {
        guard request.method == .get || request.method == .head, request.body.isEmpty, !request.streamsResponse,
            let options = request.options.comparable
        else { return nil }
        place = ChainPlace(before: next)
        guard isOnlyNext || place.isKnown else { return nil }
        method = request.method
        url = request.url
        headers = request.headers
        self.options = options
        // What a stage further in would treat differently is different.
        isRetried = RetryNesting.isInside
        desks = Set(AuthenticationScope.desks.lazy.filter(\.goesOn).map(\.owner))
    }
}
