// SPDX-License-Identifier: Apache-2.0
/// Delays requests that the server's rate limit would refuse.
///
/// The stage reads the rate limit fields of every response. If a limit of the origin is exhausted, requests with
/// ``HTTPRequest/pacing`` on wait for its reset instead of receiving a 429. A delay beyond the maximum delay ends the
/// request with ``HTTPError/Code/retryAfterTooLong``. Place the stage after ``Retry``, so that each attempt is paced.
///
/// It is a ``Pacer`` that knows only what answers tell, for the requests that ask for it.
public struct RateLimiter: HTTPMiddleware {
    /// How the rate limit fields are read.
    public typealias Fields = RateLimitFields

    private let pacer: Pacer

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - fields: how the rate limit fields are parsed.
    ///   - clocks: the clocks that measure delays and that dates are compared with.
    public init(fields: RateLimitFields = RateLimitFields(), clocks: RetryClocks = .system) {
        var profile = ServerProfile(name: "rate limit fields")
        profile.fields = fields
        pacer = Pacer(profile: profile, circuitBreaker: nil, clocks: clocks)
    }

    /// Loads a request when its origin's limit allows it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        request.pacing == .on ? await pacer.load(request, next: next) : await next.load(request)
    }

    /// Ends all waits of this stage; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { await pacer.reset() }
}

extension RateLimiter {
    /// Whether requests wait before a rate limit refuses them.
    public enum Pacing: String, Hashable, Sendable, Codable {
        /// Requests are sent immediately; a refused one is retried after the delay.
        case off
        /// Requests wait for the reset of the limit.
        case on
    }
}

private enum PacingOption: HTTPRequestOption {
    static let defaultValue = RateLimiter.Pacing.off
}

extension HTTPRequest {
    /// Whether this request waits before a rate limit refuses it; defaults to `.off`.
    public var pacing: RateLimiter.Pacing {
        get { self[option: PacingOption.self] }
        set { self[option: PacingOption.self] = newValue }
    }
}
