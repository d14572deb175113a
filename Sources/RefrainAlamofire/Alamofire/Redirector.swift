// SPDX-License-Identifier: Apache-2.0
/// Decides about the redirects of a request.
///
/// ```swift
/// session.request(url).redirect(using: .doNotFollow)
/// ```
public struct Redirector: Sendable {
    /// What happens to redirects.
    public enum Behavior: Sendable {
        /// They are followed, at most 20.
        case follow
        /// The redirect itself is the response.
        case doNotFollow
        /// They are followed by the request that the closure returns; nil means that the redirect is the response.
        ///
        /// The closure receives the request that was redirected, the one that follows it by RFC 9110, and the redirect.
        /// It may be called more than once for a redirect, and has no effects of its own. Credentials that were dropped
        /// because the redirect leaves the origin are not on the second request; the closure may set others. If the
        /// closure chooses another origin itself, they are dropped there, too.
        case modify(
            @Sendable (_ original: HTTPRequest, _ redirected: HTTPRequest, _ response: HTTPResponse) -> HTTPRequest?
        )
    }

    /// What happens to redirects.
    public let behavior: Behavior

    /// Makes a redirector.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Follows redirects, as a request does without a redirector.
    public static let follow = Redirector(behavior: .follow)
    /// Follows no redirect.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)

    /// Follows redirects by the requests that a closure returns.
    public static func modify(
        using closure:
            @escaping @Sendable (
                _ original: HTTPRequest, _ redirected: HTTPRequest, _ response: HTTPResponse
            ) -> HTTPRequest?
    ) -> Redirector { Redirector(behavior: .modify(closure)) }

    /// Gives each new request of a session its redirector.
    struct Monitor: EventMonitor {
        let redirector: Redirector

        func requestDidCreate(_ request: Request) { request.redirect(using: redirector) }
    }
}

extension Request {
    /// Sets what happens to redirects.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func redirect(using redirector: Redirector) -> Self {
        beforeStart { request in
            switch redirector.behavior {
            case .follow:
                request.followsRedirects = true
                request.redirectModifier = nil
            case .doNotFollow: request.followsRedirects = false
            case .modify(let modify):
                request.followsRedirects = true
                request.redirectModifier = modify
            }
        }
        return self
    }
}

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
