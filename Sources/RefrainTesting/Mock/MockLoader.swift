public import RefrainHTTP

/// A loader without a network: it answers requests with what the test has lined up, first in, first out.
///
/// ```swift
/// let mock = MockLoader()
/// mock.then(.status(503, headers: ["Retry-After": "7"]))
///     .then(.failure(.networkConnectionLost, bytesSent: 120))
///     .then { request in .success(HTTPResponse(request: request, status: 200)) }
/// let result = await (Retry(RetryPolicy.recommended) --> mock).load(request)
/// #expect(mock.requests.count == 3)
/// ```
///
/// A request for which nothing is lined up fails with `HTTPError.Code.callerFailed`, which is never tried again, and
/// with a message that says what to do; ``otherwise(_:)`` lines up an answer for all of these. The idea is from "HTTP
/// in Swift".
public final class MockLoader: HTTPLoader {
    private let state = Locked(State())

    private struct State {
        /// Each with the number of requests that it is for, which is one or more.
        var replies: ArraySlice<(reply: MockReply, count: Int)> = []
        var otherwise: MockReply?
        var requests: [HTTPRequest] = []
        var resets = 0
        /// Those that have arrived since the last reset, as far as they are held.
        var held = SleepGroup()

        mutating func nextReply() -> MockReply? {
            guard let (reply, count) = replies.first else { return otherwise }
            if count > 1 {
                replies[replies.startIndex].count = count - 1
            } else {
                replies.removeFirst()
            }
            return reply
        }
    }

    /// Makes a loader with nothing lined up.
    public init() {}

    /// Lines up a reply behind the others.
    @discardableResult
    public func then(_ reply: MockReply) -> MockLoader {
        then(times: 1, reply)
    }

    /// Lines up a closure that answers one request, behind the others.
    @discardableResult
    public func then(_ reply: @escaping @Sendable (HTTPRequest) async -> HTTPResult) -> MockLoader {
        then(MockReply(reply))
    }

    /// Lines up the same reply for several requests.
    ///
    /// - Parameters:
    ///   - count: for how many; none where it is zero or negative, as good as all where it is `.max`.
    ///   - reply: the reply to each of them.
    @discardableResult
    public func then(times count: Int, _ reply: MockReply) -> MockLoader {
        if count > 0 { state.withLock { $0.replies.append((reply, count)) } }
        return self
    }

    /// Sets the reply to all requests for which nothing is lined up.
    @discardableResult
    public func otherwise(_ reply: MockReply) -> MockLoader {
        state.withLock { $0.otherwise = reply }
        return self
    }

    /// Every request that arrived, in order, as it arrived.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// How many replies are still lined up; `Int.max` where there are more.
    public var remainingReplies: Int {
        state.withLock { state in
            state.replies.reduce(0) { sum, next in
                let (total, isTooLarge) = sum.addingReportingOverflow(next.count)
                return isTooLarge ? .max : total
            }
        }
    }

    /// How often the loader was reset.
    public var resets: Int { state.withLock { $0.resets } }

    /// Answers a request with the reply that is next in line.
    public func load(_ request: HTTPRequest) async -> HTTPResult {
        let (reply, number, held) = state.withLock { state in
            state.requests.append(request)
            return (state.nextReply(), state.requests.count, state.held)
        }
        guard let reply else { return .failure(Self.nothingLinedUp(for: request, number)) }
        guard let hold = reply.hold else { return await reply.make(request) }
        do {
            try await hold.pass(in: held)
        } catch {
            return .failure(HTTPError(.cancelled, request: request, underlyingError: error))
        }
        return await reply.make(request)
    }

    /// Ends all requests that are held back, and counts; what is lined up stays.
    public func reset() async {
        let held = state.withLock { state in
            state.resets += 1
            defer { state.held = SleepGroup() }
            return state.held
        }
        // Closed, for one that has arrived and is not yet where it is held.
        held.close()
    }

    private static func nothingLinedUp(for request: HTTPRequest, _ number: Int) -> HTTPError {
        HTTPError(
            .callerFailed,
            request: request,
            message: "this is request number \(number), and MockLoader has no reply lined up for it; "
                + "line one up with then(_:), or set a reply for all others with otherwise(_:)",
            bytesSent: 0
        )
    }
}
