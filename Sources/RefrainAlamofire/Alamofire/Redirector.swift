/// Decides whether the redirects of a request are followed.
///
/// ```swift
/// session.request(url).redirect(using: .doNotFollow)
/// ```
///
/// Alamofire's third behavior, which changes the request of a redirect, has no counterpart: give the request
/// `followsRedirects = false`, read `Location`, and make the request that is wanted.
public struct Redirector: Hashable, Sendable {
    /// What happens to redirects.
    public enum Behavior: Hashable, Sendable {
        /// They are followed, at most 20.
        case follow
        /// The redirect itself is the response.
        case doNotFollow
    }

    /// What happens to redirects.
    public let behavior: Behavior

    /// Makes a redirector.
    public init(behavior: Behavior) { self.behavior = behavior }

    /// Follows redirects, as a request does without a redirector.
    public static let follow = Redirector(behavior: .follow)
    /// Follows no redirect.
    public static let doNotFollow = Redirector(behavior: .doNotFollow)
}

extension Request {
    /// Sets whether redirects are followed.
    ///
    /// Call it before the request starts; later it has no effect.
    @discardableResult
    public func redirect(using redirector: Redirector) -> Self {
        beforeStart { $0.followsRedirects = redirector.behavior == .follow }
        return self
    }
}
