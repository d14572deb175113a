/// Lets only so many requests through at a time; the others wait their turn, first come, first served.
///
/// ```swift
/// let loader = try Retry(RetryPolicy.recommended) --> Throttle(maximumNumberOfRequests: 4) --> CurlLoader()
/// ```
///
/// The place in the chain decides what a slot covers. After ``Retry``, a request gives its slot back between two
/// tries, so that others pass while it waits. Before it, a slot is held for all tries of a request, and requests stay
/// in order. A slot is free again when the loader behind has answered, also where the body of the answer is still
/// being read.
///
/// A request that is cancelled while it waits leaves the queue at once, and so does one whose deadline passes. The idea
/// is from "HTTP in Swift".
public struct Throttle: HTTPMiddleware {
    private let slots: ThrottleSlots
    private let clocks: ClockPair

    /// Makes a stage that holds nobody back until a limit is set.
    public init(clocks: ClockPair = .system) {
        slots = ThrottleSlots(limit: .max)
        self.clocks = clocks
    }

    /// Makes the stage with its limit.
    ///
    /// - Parameters:
    ///   - limit: how many requests may be under way at a time.
    ///   - clocks: the clocks that a wait is measured on, where the request has a deadline.
    /// - Throws: `InvalidArgument` for a limit under 1.
    public init(maximumNumberOfRequests limit: Int, clocks: ClockPair = .system) throws(InvalidArgument) {
        slots = ThrottleSlots(limit: try Self.checked(limit))
        self.clocks = clocks
    }

    /// How many requests may be under way at a time.
    public var maximumNumberOfRequests: Int { slots.limit }

    /// Changes the limit, also while requests are under way.
    ///
    /// A higher limit lets waiting requests pass at once. A lower one interrupts nobody: it holds as soon as
    /// enough of the requests under way have returned.
    ///
    /// - Throws: `InvalidArgument` for a limit under 1.
    public func setMaximumNumberOfRequests(_ limit: Int) throws(InvalidArgument) {
        slots.setLimit(try Self.checked(limit))
    }

    /// How many requests wait for their turn.
    public var numberOfWaitingRequests: Int { slots.waitingCount }

    /// How many requests hold a slot.
    public var numberOfRunningRequests: Int { slots.runningCount }

    /// Hands a request on as soon as there is a slot for it.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        guard request.throttle == .always else { return await next.load(request) }
        let began = request.deadline == nil ? nil : clocks.now
        let (hasSlot, isLate) = await request.withinDeadline(on: clocks) { await slots.take() }
        guard hasSlot else { return .failure(isLate ? Self.late(request) : Self.turnedAway(request)) }
        defer { slots.giveBack() }
        // The slot may be that of a request which the same reset has cancelled a moment before.
        guard FlightList.current?.isLeaving != true else { return .failure(Self.turnedAway(request)) }
        guard let began else { return await next.load(request) }
        guard let left = request.afterWaiting(clocks.now - began) else { return .failure(Self.late(request)) }
        return await next.load(left)
    }

    private static func late(_ request: HTTPRequest) -> HTTPError { request.tooLate("while it waited for its turn") }

    private static func turnedAway(_ request: HTTPRequest) -> HTTPError {
        HTTPError(.cancelled, request: request, message: "cancelled while it waited for its turn", bytesSent: 0)
    }

    /// Ends the wait of every request in the queue; these end with ``HTTPError/Code/cancelled``.
    public func reset() async { slots.turnAllAway() }

    private static func checked(_ limit: Int) throws(InvalidArgument) -> Int {
        guard limit > 0 else {
            throw InvalidArgument("maximumNumberOfRequests", is: limit, expected: "1 or more")
        }
        return limit
    }
}

/// Whether a ``Throttle`` counts a request.
public enum ThrottleUse: Hashable, Sendable {
    /// The request waits for a slot.
    case always
    /// The request passes at once, and takes no slot: for the refresh of a token that waiting requests need.
    case never
}

private enum ThrottleOption: HTTPRequestOption {
    static let defaultValue = ThrottleUse.always
}

extension HTTPRequest {
    /// Whether a ``Throttle`` counts this request; `.always` by default.
    public var throttle: ThrottleUse {
        get { self[option: ThrottleOption.self] }
        set { self[option: ThrottleOption.self] = newValue }
    }
}
