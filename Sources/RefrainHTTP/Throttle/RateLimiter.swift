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

/// Lets requests start one after another, in order of arrival, with an interval between them.
///
/// One request at a time holds the turn and waits for the interval; the others wait for the turn. A request that is
/// cancelled gives its turn back and uses no interval up.
final class RequestRate: Sendable {
    private let interval: Duration
    private let turns = ThrottleSlots(limit: 1)
    private let waiting = CancellationTokenSource()
    private let next = Locked<Duration?>(nil)

    /// - Parameter requestsPerSecond: under one in a day, and NaN, count as one in a day.
    init(requestsPerSecond: Double) {
        let slowest = 1.0 / 86_400
        interval = .seconds(1 / (requestsPerSecond >= slowest ? requestsPerSecond : slowest))
    }

    /// The number of requests that wait for the turn.
    var waitingCount: Int { turns.waitingCount }

    /// The result of a wait.
    enum Admission {
        case admitted, cancelled, pastDeadline
    }

    /// Waits until the request may start; gives up at once where its deadline comes first.
    func admit(_ request: HTTPRequest, on clocks: RetryClocks) async -> Admission {
        let (hasTurn, isLate) = await request.withinDeadline { [turns] in await turns.take() }
        guard hasTurn else { return isLate ? .pastDeadline : .cancelled }
        defer { turns.refund() }
        let clock = clocks.timer.cancelled(by: waiting.current)
        do {
            let left = try await withRetry(timeout: request.deadline?.remaining, clock: clock) { _ in
                enter(at: clocks.now)
            } decide: { _, delay in
                delay == .zero ? .finish(delay, .succeeded) : .retry(after: delay, .paced, isFree: true)
            }
            return left == .zero ? .admitted : .pastDeadline
        } catch {
            return .cancelled
        }
    }

    /// Begins an interval, or returns how long the present one still lasts.
    private func enter(at now: Duration) -> Duration {
        next.withLock { next in
            if let start = next, start > now { return start - now }
            next = now + interval
            return .zero
        }
    }

    /// Cancels all waiting requests.
    func cancelAll() {
        turns.removeAll()
        waiting.cancel()
    }
}
