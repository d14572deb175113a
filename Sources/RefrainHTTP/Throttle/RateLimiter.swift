// SPDX-License-Identifier: Apache-2.0
/// Delays requests that the server's rate limit would refuse.
///
/// The stage reads the rate limit fields of every response. If a limit of the origin is exhausted, requests with
/// ``HTTPRequest/pacing`` on wait for its reset instead of receiving a 429. A delay beyond the maximum delay ends the
/// request with ``HTTPError/Code/retryAfterTooLong``. Place the stage after ``Retry``, so that each attempt is paced.
public struct RateLimiter: HTTPMiddleware {
    /// How the rate limit fields are read.
    public typealias Fields = RateLimitFields

    private let fields: RateLimitFields
    private let clocks: RetryClocks
    private let waiting = CancellationTokenSource()
    private let limits = Locked<[Origin: ObservedLimit]>([:])

    /// The maximum number of origins.
    ///
    /// Beyond it, all are removed, and each is recorded again from its next response.
    private static let capacity = 4096

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - fields: how the rate limit fields are parsed.
    ///   - clocks: the clocks that measure delays and that dates are compared with.
    public init(fields: RateLimitFields = RateLimitFields(), clocks: RetryClocks = .system) {
        self.fields = fields
        self.clocks = clocks
    }

    /// Loads a request when its origin's limit allows it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.pacing == .on, let origin = request.origin else { return await next.load(request) }
        let request = request.beginningCall(on: clocks)
        if let error = await waitForRoom(request, origin) { return .failure(error) }
        let result =
            request.isPastDeadline
            ? .failure(request.tooLate("while it was held back")) : await next.load(request)
        if case .success(let response) = result {
            learn(from: response, origin)
        } else {
            limits.withLock { limits in
                guard let observed = limits[origin] else { return }
                limits[origin]?.inFlight = max(0, observed.inFlight - 1)
            }
        }
        return result
    }

    /// Ends all waits of this stage; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { waiting.cancel() }

    private func waitForRoom(_ request: HTTPRequest, _ origin: Origin) async -> HTTPError? {
        let cap = request.retryAfterPolicy.cap
        let clock = clocks.timer.cancelled(by: waiting.current)
        let delay: Duration
        do {
            delay = try await withRetry(timeout: request.deadline?.remaining, clock: clock) { _ in
                enter(origin)
            } decide: { _, delay in
                delay == .zero || delay > cap
                    ? .finish(delay, .succeeded) : .retry(after: delay, .paced, isFree: true)
            }
        } catch {
            return HTTPError(.cancelled, request: request, message: "cancelled while it was held back", bytesSent: 0)
        }
        guard delay > .zero else { return nil }
        var error = HTTPError(
            .retryAfterTooLong,
            request: request,
            message: "the rate limit of \(origin) is used up, and this request was held back",
            bytesSent: 0
        )
        error.retryAfterDate = clocks.wallNow.advanced(by: delay)
        return error
    }

    /// Takes one unit of the quota; returns the delay if there is none left.
    private func enter(_ origin: Origin) -> Duration {
        let now = clocks.now
        return limits.withLock { limits in
            guard var observed = limits[origin] else { return .zero }
            let hold = observed.limit.holdBack(sent: observed.inFlight, elapsed: now - observed.at)
            if hold == .zero {
                observed.inFlight += 1
                limits[origin] = observed
            }
            return hold
        }
    }

    private func learn(from response: HTTPResponse, _ origin: Origin) {
        let limit = fields.binding(wallClock: clocks.wallNow) { response.headers[values: $0] }
        let now = clocks.now
        limits.withLock { limits in
            let others = max(0, (limits[origin]?.inFlight ?? 0) - 1)
            guard let limit else {
                limits[origin]?.inFlight = others
                return
            }
            if limits.count >= Self.capacity { limits.removeAll() }
            // The remaining quota may not account for the other requests in flight.
            limits[origin] = ObservedLimit(limit: limit, at: now, inFlight: others)
        }
    }
}

/// The last known limit of an origin, and the number of requests sent since.
private struct ObservedLimit {
    var limit: RateLimit
    var at: Duration
    var inFlight: Int
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
