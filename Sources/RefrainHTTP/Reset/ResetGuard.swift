// SPDX-License-Identifier: Apache-2.0
/// Refuses requests while the chain is being reset.
///
/// ```swift
/// let throttle = Throttle(maximumNumberOfRequests: 4)
/// let loader = ResetGuard()
///     --> Retry(RetryPolicy.recommended)
///     --> throttle
///     --> PlatformLoader()
/// await loader.reset()      // as when a user logs out
/// ```
///
/// Place it at the head of a chain. A reset closes the guard, cancels every request behind it, resets the following
/// stages, waits until those requests have returned with ``HTTPError/Code/cancelled``, and opens the guard. A request
/// that arrives meanwhile fails with ``HTTPError/Code/resetInProgress``. Concurrent resets are combined. Requests that
/// refresh a credential are not cancelled: the reset waits for them, so that a token that the service has rotated is
/// not lost.
///
/// A stage of the chain may call the reset itself, and so may the refresh of a credential, as on a log-out. The call
/// then does not wait for the request or the refresh that it is made in, which must return first. A guard belongs to
/// one chain.
public struct ResetGuard: HTTPMiddleware {
    /// The requests in flight behind the guard.
    package let requests = InFlightRequests(.closesForResets)

    /// Makes the stage.
    public init() {}

    /// The number of requests in flight behind the guard.
    public var numberOfRequests: Int { requests.count }

    /// Forwards a request, unless a reset is in progress.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await requests.load(request, next: next)
    }

    /// Cancels every request behind the guard, and waits until they have returned.
    public func reset() async { await requests.reset() }

    /// Cancels every request behind the guard, resets `next`, and refuses requests until that is done.
    public func reset(next: any HTTPLoader) async { await requests.reset { await next.reset() } }
}

extension ResetGuard {
    /// Refuses further requests, and returns when those in flight have returned: a graceful shutdown of a chain.
    ///
    /// Refused requests fail with ``HTTPError/Code/resetInProgress``. The guard stays closed.
    ///
    /// - Parameters:
    ///   - timeout: how long to wait before those that are left are cancelled. Defaults to nil: no limit.
    ///   - clock: what the timeout is measured on.
    /// - Returns: whether all requests returned by themselves.
    @discardableResult
    public func drain(timeout: Duration? = nil, clock: some Clock<Duration> = TimerClock()) async -> Bool {
        await requests.close(timeout: timeout, on: AnyClock(clock))
    }

    /// Whether the current code runs within a request of this chain.
    package var isAroundPresentCode: Bool { requests.areAroundPresentCode }

    /// Whether a request of this chain may wait for a request of the current code.
    package var mayNeedPresentCode: Bool { requests.mayNeedPresentCode }

    /// Cancels every request behind the guard, and lets none in until `rest` has reset what follows.
    package func reset(_ rest: @escaping @Sendable () async -> Void) async { await requests.reset(rest) }

    /// Returns the result of a request that is not admitted.
    package func refusal(of request: HTTPRequest) -> HTTPResult { InFlightRequests.refused(request) }
}

/// Cancels all requests in flight behind it on a reset.
///
/// For a part of a chain that is emptied without being closed. At the head of a chain, ``ResetGuard`` does the same and
/// refuses new requests meanwhile. A request that arrives during a reset is forwarded and is not part of that reset.
public struct Autocancel: HTTPMiddleware {
    private let inFlight = InFlightRequests(.staysOpen)

    /// Makes the stage.
    public init() {}

    /// Loads a request in a task that a reset can cancel.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        await inFlight.load(request, next: next)
    }

    /// Cancels all requests in flight, and waits until they have returned.
    public func reset() async { await inFlight.reset() }

    /// Cancels all requests in flight, resets `next`, and waits until the requests have returned.
    public func reset(next: any HTTPLoader) async { await inFlight.reset { await next.reset() } }
}
