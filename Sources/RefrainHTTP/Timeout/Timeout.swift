/// Sets default time limits for the attempts that pass through it.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended) --> Timeout(total: .seconds(10)) --> CurlLoader()
/// ```
///
/// The stage fills in the limits of ``HTTPRequest/timeouts`` that a request does not set, and enforces the total: if
/// the next loader enforces limits itself (``HTTPLoader/keepsTimeouts``), the stage leaves it to that loader; otherwise
/// it cancels the loader when the limit has passed. The total then includes all waits behind the stage.
///
/// An attempt that exceeds a limit fails with ``HTTPError/Code/timedOut`` and may be retried. A cancellation by the
/// caller is reported as ``HTTPError/Code/cancelled``. After ``Retry`` the limits apply to each attempt, before it to
/// all attempts together.
public struct Timeout: HTTPMiddleware {
    private let limits: Limits
    private let clocks: RetryClocks

    /// Makes the stage; nil leaves a limit unchanged.
    ///
    /// - Parameters:
    ///   - total: the time of a whole attempt, including the bodies.
    ///   - connect: the time to resolve the host name, connect and complete the TLS handshake.
    ///   - firstByte: the time from the start of the attempt to the first byte of the response.
    ///   - idle: the maximum time without a byte in either direction.
    ///   - clocks: the clocks that measure the total.
    ///
    /// A limit of zero or less counts as one millisecond.
    public init(
        total: Duration? = nil,
        connect: Duration? = nil,
        firstByte: Duration? = nil,
        idle: Duration? = nil,
        clocks: RetryClocks = .system
    ) {
        func clamped(_ limit: Duration?) -> Duration? { limit.map { max(.milliseconds(1), $0.clampedToDelay) } }
        limits = Limits(
            connect: clamped(connect),
            firstByte: clamped(firstByte),
            idle: clamped(idle),
            total: clamped(total)
        )
        self.clocks = clocks
    }

    /// Loads a request within its limits.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        var request = request
        request.timeouts.fill(from: limits)
        guard let total = request.timeLeft, !next.keepsTimeouts else { return await next.load(request) }
        return await race(request, total.clampedToDelay, next)
    }

    private func race(_ request: HTTPRequest, _ total: Duration, _ next: any HTTPLoader) async -> HTTPResult {
        let (result, isCut) = await withTimeout(total, on: clocks.timer) { await next.load(request) }
        guard isCut, case .failure(var error) = result, error.code == .cancelled else { return result }
        error.code = .timedOut
        error.message = "no complete answer within \(total)"
        return .failure(error)
    }
}
