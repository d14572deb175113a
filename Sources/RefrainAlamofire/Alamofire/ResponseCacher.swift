/// What becomes of a response in the cache, under Alamofire's name.
///
/// No session has a cache, so that only what needs none compiles.
public struct ResponseCacher: Sendable {
    /// What becomes of a response.
    public enum Behavior: Hashable, Sendable {
        /// It is not cached.
        case doNotCache
    }

    /// What becomes of a response.
    public let behavior: Behavior

    /// Makes a cacher.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Responses are not cached, as always here.
    public static let doNotCache = ResponseCacher(behavior: .doNotCache)

    /// Not there: a session has no cache.
    @available(*, unavailable, message: "a session has no cache; keep the response, or put a caching proxy before it")
    public static var cache: ResponseCacher { .doNotCache }
}

extension Request {
    /// Does nothing, because no response is cached.
    @discardableResult
    public func cacheResponse(using handler: ResponseCacher) -> Self { self }
}
