/// Limits the time of each try that passes, for requests that have not set a limit of their own.
///
/// ```swift
/// let loader = try Retry(RetryPolicy.recommended) --> Timeout(total: .seconds(10)) --> CurlLoader()
/// ```
///
/// The stage fills in those parts of ``HTTPRequest/timeouts`` that the request leaves open, and sees to it that the
/// total is kept: where the loader behind it keeps time by itself (``HTTPLoader/keepsTimeouts``) it leaves that to it;
/// otherwise it cancels the loader when the time is up. The total then covers everything behind the stage, waits
/// included.
///
/// A try that runs out of time fails with ``HTTPError/Code/timedOut``, and may be tried again. The caller's
/// own cancellation stays ``HTTPError/Code/cancelled``. After ``Retry`` the limit is for each try, before it for all
/// together.
public struct Timeout: HTTPMiddleware {
    private let limits: Timeouts
    private let clocks: ClockPair

    /// Makes the stage; a part that is nil is left as it is.
    ///
    /// - Parameters:
    ///   - total: the time for a whole try, body included.
    ///   - connect: the time to resolve the name, connect and finish the TLS handshake.
    ///   - firstByte: the time from the beginning of the try to the first byte of the response.
    ///   - idle: the longest time without a byte in either direction.
    ///   - clocks: the clocks that the total is measured on.
    /// - Throws: `InvalidArgument` for a limit that is not positive.
    public init(
        total: Duration? = nil,
        connect: Duration? = nil,
        firstByte: Duration? = nil,
        idle: Duration? = nil,
        clocks: ClockPair = .system
    ) throws(InvalidArgument) {
        for (name, limit) in [("total", total), ("connect", connect), ("firstByte", firstByte), ("idle", idle)] {
            guard let limit, limit <= .zero else { continue }
            throw InvalidArgument(name, is: limit, expected: "longer than zero")
        }
        limits = Timeouts(
            connect: connect?.clampedToDelay,
            firstByte: firstByte?.clampedToDelay,
            idle: idle?.clampedToDelay,
            total: total?.clampedToDelay
        )
        self.clocks = clocks
    }

    /// Loads a request within its time.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var request = request
        request.timeouts.fill(from: limits)
        guard let total = request.timeout, !next.keepsTimeouts else { return await next.load(request) }
        return await race(request, total.clampedToDelay, next)
    }

    private func race(_ request: HTTPRequest, _ total: Duration, _ next: any HTTPLoader) async -> HTTPResult {
        let (result, isCut) = await TimeLimit.run(within: total, on: clocks.monotonic) { await next.load(request) }
        guard isCut, case .failure(var error) = result, error.code == .cancelled else { return result }
        error.code = .timedOut
        error.message = "no complete answer within \(total)"
        return .failure(error)
    }
}
