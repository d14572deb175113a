/// Limits the number of concurrent requests, or of requests a second.
///
/// Further requests wait in order of arrival.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended) --> Throttle(maximumNumberOfRequests: 4) --> PlatformLoader()
/// ```
///
/// The position in the chain determines what a slot covers. After ``Retry``, a request frees its slot between attempts,
/// so that others pass during its delay. Before it, a request keeps its slot for all attempts, and requests stay in
/// order. A slot is freed when the next loader returns, even if the response's body is still being read.
///
/// A request that is sent on behalf of another request while that one holds a slot, such as a token refresh, takes no
/// slot: it would wait for itself (rule R27).
///
/// A waiting request that is cancelled, or whose deadline passes, leaves the queue immediately.
public struct Throttle: HTTPMiddleware {
    private let slots: ThrottleSlots
    private let rate: RequestRate?
    private let clocks: RetryClocks

    /// Makes a stage without a limit, until one is set.
    public init(clocks: RetryClocks = .system) {
        slots = ThrottleSlots(limit: .max)
        rate = nil
        self.clocks = clocks
    }

    /// Makes the stage with a limit.
    ///
    /// - Parameters:
    ///   - limit: how many requests may be in flight at a time. Less than 1 counts as 1.
    ///   - clocks: the clocks that a wait is measured on, where the request has a timeout.
    public init(maximumNumberOfRequests limit: Int, clocks: RetryClocks = .system) {
        slots = ThrottleSlots(limit: limit)
        rate = nil
        self.clocks = clocks
    }

    /// Makes the stage with a limit on how many requests start in a second.
    ///
    /// The requests start at even intervals: with 10 a second, one every 100 ms. How many are in flight at a time is
    /// not limited.
    ///
    /// ```swift
    /// let loader = Retry(.recommended) --> Throttle(requestsPerSecond: 10) --> PlatformLoader()
    /// ```
    ///
    /// - Parameters:
    ///   - rate: the requests a second. Less than one a day, and NaN, count as one a day.
    ///   - clocks: the clocks that the intervals are measured on.
    public init(requestsPerSecond rate: Double, clocks: RetryClocks = .system) {
        slots = ThrottleSlots(limit: .max)
        self.rate = RequestRate(requestsPerSecond: rate)
        self.clocks = clocks
    }

    /// Makes the stage with a limit that comes from outside.
    ///
    /// - Throws: `InvalidArgument` for a limit under 1.
    public static func validated(
        maximumNumberOfRequests limit: Int,
        clocks: RetryClocks = .system
    ) throws(InvalidArgument) -> Throttle {
        guard limit > 0 else {
            throw InvalidArgument("maximumNumberOfRequests", is: limit, expected: "1 or more")
        }
        return Throttle(maximumNumberOfRequests: limit, clocks: clocks)
    }

    /// The maximum number of concurrent requests.
    public var maximumNumberOfRequests: Int { slots.limit }

    /// Changes the limit.
    ///
    /// After an increase, waiting requests are forwarded immediately. A decrease cancels no requests; it takes effect
    /// as requests in flight return. A limit under 1 counts as 1.
    public func setMaximumNumberOfRequests(_ limit: Int) { slots.setLimit(limit) }

    /// The number of waiting requests.
    public var numberOfWaitingRequests: Int { slots.waitingCount + (rate?.waitingCount ?? 0) }

    /// The number of requests that hold a slot.
    public var numberOfRunningRequests: Int { slots.runningCount }

    /// Forwards a request when a slot is free.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.throttle == .always, !ThrottleScope.operations.contains(workOf: slots) else {
            return await next.load(request)
        }
        let request = request.beginningCall(on: clocks)
        switch await rate?.admit(request, on: clocks) {
        case .admitted, nil: break
        case .cancelled: return .failure(Self.cancelled(request))
        case .pastDeadline: return .failure(Self.pastDeadline(request))
        }
        let (hasSlot, isLate) = await request.withinDeadline { await slots.take() }
        guard hasSlot else { return .failure(isLate ? Self.pastDeadline(request) : Self.cancelled(request)) }
        let operation = ActiveOperation(of: slots)
        defer {
            operation.end()
            slots.refund()
        }
        // The slot may have been freed by a request that the same reset has just cancelled.
        guard InFlightContext.current?.isDraining != true else { return .failure(Self.cancelled(request)) }
        guard !request.isPastDeadline else { return .failure(Self.pastDeadline(request)) }
        return await ThrottleScope.$operations.withValue(ThrottleScope.operations + [operation]) {
            await next.load(request)
        }
    }

    private static func pastDeadline(_ request: HTTPRequest) -> HTTPError {
        request.tooLate("while it waited for its turn")
    }

    private static func cancelled(_ request: HTTPRequest) -> HTTPError {
        HTTPError(.cancelled, request: request, message: "cancelled while it waited for its turn", bytesSent: 0)
    }

    /// Cancels all waiting requests; they end with ``HTTPError/Code/cancelled``.
    public func reset() async {
        slots.removeAll()
        rate?.cancelAll()
    }
}

/// The throttles whose slots are held by requests that the calling code runs within.
private enum ThrottleScope {
    @TaskLocal static var operations: [ActiveOperation] = []
}

extension Throttle {
    /// Whether a ``Throttle`` applies to a request.
    public enum Use: Hashable, Sendable {
        /// The request waits for a slot.
        case always
        /// The request is forwarded immediately and takes no slot, as for a health check.
        case never
    }
}

private enum ThrottleOption: HTTPRequestOption {
    static let defaultValue = Throttle.Use.always
}

extension HTTPRequest {
    /// Whether a ``Throttle`` applies to this request; defaults to `.always`.
    public var throttle: Throttle.Use {
        get { self[option: ThrottleOption.self] }
        set { self[option: ThrottleOption.self] = newValue }
    }
}
