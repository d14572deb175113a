/// Holds requests back before the server has to refuse them (rule R19).
///
/// The stage reads the rate-limit fields of every response. Where a limit of the origin is used up, requests with
/// ``HTTPRequest/pacing`` on wait for its reset instead of running into a 429. A wait beyond the bounds of rule R18
/// ends the request with ``HTTPError/Code/comeBackLater``. It belongs inside of ``Retry``, so that each try is paced.
public struct Pace: HTTPMiddleware {
    private let fields: RateLimitFields
    private let clocks: ClockPair
    private let waiting = SleepGenerations()
    private let limits = Locked<[Origin: ObservedLimit]>([:])

    /// How many origins are remembered; past it, all are forgotten, and each is learnt again from its next response.
    private static let capacity = 4096

    /// Makes the stage.
    ///
    /// - Parameters:
    ///   - fields: how the rate-limit fields are read.
    ///   - clocks: the clocks that waits are measured on and dates are compared with.
    public init(fields: RateLimitFields = RateLimitFields(), clocks: ClockPair = .system) {
        self.fields = fields
        self.clocks = clocks
    }

    /// Loads a request, when its origin has room for it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.pacing == .on, let origin = request.origin else { return await next.load(request) }
        let began = clocks.now
        if let error = await waitForRoom(request, origin) { return .failure(error) }
        let result: HTTPResult
        if let left = request.afterWaiting(clocks.now - began) {
            result = await next.load(left)
        } else {
            result = .failure(request.tooLate("while it was held back"))
        }
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

    /// Ends every wait of this stage; these requests end with ``HTTPError/Code/cancelled``.
    public func reset() async { waiting.endAll() }

    private func waitForRoom(_ request: HTTPRequest, _ origin: Origin) async -> HTTPError? {
        let cap = request.serverDelays.cap
        do {
            let refused = try await withRetry(
                deadline: request.deadline,
                clock: clocks.monotonic.grouped(in: waiting.current),
                operation: { _ in enter(origin) },
                decide: { _, hold in
                    hold == .zero || hold > cap
                        ? .finish(hold, .succeeded) : .retry(after: hold, .paced, isFree: true)
                }
            )
            guard refused > .zero else { return nil }
            var error = HTTPError(
                .comeBackLater,
                request: request,
                message: "the rate limit of \(origin) is used up, and this request was held back",
                bytesSent: 0
            )
            error.comeBackAt = clocks.wallNow.advanced(by: refused)
            return error
        } catch {
            return HTTPError(.cancelled, request: request, message: "cancelled while it was held back", bytesSent: 0)
        }
    }

    /// Takes a place for one request; answers how long to wait where there is none.
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
            // The server may not have counted the others yet when it wrote what is left.
            limits[origin] = ObservedLimit(limit: limit, at: now, inFlight: others)
        }
    }
}

/// What an origin last said about its limit, and what has been sent since.
private struct ObservedLimit {
    var limit: RateLimit
    var at: Duration
    var inFlight: Int
}

/// Whether requests are held back before a limit refuses them.
public enum Pacing: String, Hashable, Sendable, Codable {
    /// They are sent, and a refusal is waited out.
    case off
    /// They wait for the limit's reset.
    case on
}

private enum PacingOption: HTTPRequestOption {
    static let defaultValue = Pacing.off
}

extension HTTPRequest {
    /// Whether this request is held back before a limit refuses it; off unless turned on.
    public var pacing: Pacing {
        get { self[option: PacingOption.self] }
        set { self[option: PacingOption.self] = newValue }
    }
}
