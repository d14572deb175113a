// SPDX-License-Identifier: Apache-2.0
public import RefrainHTTP

/// A loader without a network that returns prepared replies in order.
///
/// ```swift
/// let mock = MockLoader()
/// mock.then(.status(503, headers: ["Retry-After": "7"]))
///     .then(.failure(.networkConnectionLost, bytesSent: 120))
///     .then { request in
///         .success(HTTPResponse(request: request, status: 200))
///     }
/// let result = await (Retry(RetryPolicy.recommended) --> mock)
///     .load(request)
/// #expect(mock.requests.count == 3)
/// ```
///
/// A request without a prepared reply fails with `HTTPError.Code.callerFailed`, which is never retried, and a message
/// that names the remedy. ``otherwise(_:)`` sets the reply to all such requests.
public final class MockLoader: HTTPLoader {
    private let state = Observed(State())

    private struct State {
        /// The replies, each with the number of requests it is for, at least one.
        var replies: ArraySlice<(reply: Reply, count: Int)> = []
        var otherwise: Reply?
        var requests: [HTTPRequest] = []
        var resets = 0
        /// Cancels the requests that are held since the last reset.
        var held = CancellationToken()

        mutating func nextReply() -> Reply? {
            guard let (reply, count) = replies.first else { return otherwise }
            if count > 1 {
                replies[replies.startIndex].count = count - 1
            } else {
                replies.removeFirst()
            }
            return reply
        }
    }

    /// Makes a loader without replies.
    public init() {}

    /// Makes a loader that replies to every request by a closure.
    ///
    /// ```swift
    /// let mock = MockLoader { request in
    ///     .status(request.method == .get ? 200 : 405)
    /// }
    /// ```
    public convenience init(_ reply: @escaping @Sendable (HTTPRequest) async -> Reply) {
        self.init()
        otherwise(Reply { request in await reply(request).make(request) })
    }

    /// Makes a loader that replies to every request by a closure, with a response or by throwing.
    ///
    /// An error of another type than `HTTPError` fails the request with `HTTPError.Code.callerFailed`.
    public convenience init(_ respond: @escaping @Sendable (HTTPRequest) async throws -> HTTPResponse) {
        self.init()
        otherwise(
            Reply { request in
                do {
                    return .success(try await respond(request))
                } catch let error as HTTPError {
                    return .failure(error)
                } catch {
                    return .failure(HTTPError(.callerFailed, request: request, underlyingError: error, bytesSent: 0))
                }
            }
        )
    }

    /// Makes a loader that replies to every request by a closure, with a result.
    public convenience init(_ load: @escaping @Sendable (HTTPRequest) async -> HTTPResult) {
        self.init()
        otherwise(Reply(load))
    }

    /// Adds a reply for one request.
    @discardableResult
    public func then(_ reply: Reply) -> MockLoader {
        then(times: 1, reply)
    }

    /// Adds a closure that replies to one request.
    @discardableResult
    public func then(_ reply: @escaping @Sendable (HTTPRequest) async -> HTTPResult) -> MockLoader {
        then(Reply(reply))
    }

    /// Adds a closure that replies to one request by its completion, at once or later, on any thread.
    ///
    /// The first call of the completion counts. One that is released without a call fails the request with
    /// `HTTPError.Code.callerFailed`, and a request that is cancelled before it ends with `HTTPError.Code.cancelled`.
    @discardableResult
    public func then(
        _ reply:
            @escaping @Sendable (
                _ request: HTTPRequest, _ completion: @escaping @Sendable (HTTPResult) -> Void
            ) -> Void
    ) -> MockLoader {
        then { request in
            let result = Promise<HTTPResult>()
            return await withTaskCancellationHandler {
                Self.begin(reply, to: request, result)
                return await result.value
            } onCancel: {
                result.fulfill(.failure(HTTPError(.cancelled, request: request)))
            }
        }
    }

    /// Calls a closure with a completion, which is the closure's alone afterwards.
    private static func begin(
        _ reply: (_ request: HTTPRequest, _ completion: @escaping @Sendable (HTTPResult) -> Void) -> Void,
        to request: HTTPRequest,
        _ result: Promise<HTTPResult>
    ) {
        let answer = OneAnswer(request, result)
        reply(request) { answer.give($0) }
    }

    /// Adds a reply for several requests.
    ///
    /// - Parameters:
    ///   - count: the number of requests. Zero and negative numbers add nothing; `.max` is practically unlimited.
    ///   - reply: the reply to each of them.
    @discardableResult
    public func then(times count: Int, _ reply: Reply) -> MockLoader {
        if count > 0 { state.withLock { $0.replies.append((reply, count)) } }
        return self
    }

    /// Sets the reply to all requests without a prepared reply.
    @discardableResult
    public func otherwise(_ reply: Reply) -> MockLoader {
        state.withLock { $0.otherwise = reply }
        return self
    }

    /// Every request received, in order.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// Returns when this many requests have arrived, or when the calling task is cancelled.
    package func requests(atLeast count: Int) async { await state.wait { $0.requests.count >= count } }

    /// The number of unused replies; saturates at `Int.max`.
    public var remainingReplies: Int {
        state.withLock { state in
            state.replies.reduce(0) { sum, next in
                let (total, isTooLarge) = sum.addingReportingOverflow(next.count)
                return isTooLarge ? .max : total
            }
        }
    }

    /// The number of resets.
    public var resets: Int { state.withLock { $0.resets } }

    /// Returns the next reply for a request.
    public func load(_ original: HTTPRequest) async -> HTTPResult {
        let request: HTTPRequest
        do {
            request = try original.withIdempotencyKeyWritten()
        } catch {
            return .failure(error)
        }
        let (reply, number, held) = state.withLock { state in
            state.requests.append(request.withAttemptLimits)
            return (state.nextReply(), state.requests.count, state.held)
        }
        guard let reply else { return .failure(Self.nothingLinedUp(for: request, number)) }
        guard let hold = reply.hold else { return await reply.make(request) }
        do {
            try await hold.pass(cancelledBy: held)
        } catch {
            return .failure(HTTPError(.cancelled, request: request, underlyingError: error))
        }
        return await reply.make(request)
    }

    /// Ends all held requests, and counts the reset; keeps the prepared replies.
    public func reset() async {
        let held = state.withLock { state in
            state.resets += 1
            defer { state.held = CancellationToken() }
            return state.held
        }
        held.cancel()
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

/// The caller's end of a completion: the first answer counts, and its release without one is a failure.
private final class OneAnswer: Sendable {
    private let result: Promise<HTTPResult>
    private let request: HTTPRequest

    init(_ request: HTTPRequest, _ result: Promise<HTTPResult>) { (self.request, self.result) = (request, result) }

    deinit {
        let message = "a reply of MockLoader has released its completion without calling it"
        give(.failure(HTTPError(.callerFailed, request: request, message: message, bytesSent: 0)))
    }

    func give(_ answer: HTTPResult) { result.fulfill(answer) }
}

extension MockLoader {
    /// Holds replies of a ``MockLoader`` back until the test releases them.
    ///
    /// ```swift
    /// let gate = MockLoader.Gate()
    /// mock.then(.held(by: gate, .status(200)))
    /// let task = Task { await loader.load(request) }
    /// // the request is in flight
    /// await gate.arrivals(atLeast: 1)
    /// task.cancel()                             // or gate.release()
    /// ```
    public final class Gate: Sendable {
        private let clock = TestClock()

        /// Makes a closed gate.
        public init() {}

        /// Opens the gate for all requests, present and later ones.
        public func release() async {
            await clock.advance(by: .longestDelay)
        }

        /// Returns when at least `count` requests wait at the gate, or when the calling task is cancelled.
        public func arrivals(atLeast count: Int) async { await clock.sleepers(atLeast: count) }

        /// The number of requests that wait at the gate.
        public var count: Int { clock.sleepers }

        /// Waits until the gate is open.
        func pass(cancelledBy token: CancellationToken) async throws {
            let opening = TestClock.Instant(offset: .longestDelay)
            try await clock.sleep(until: opening, for: .delay, cancelledBy: token)
        }
    }
}

extension MockLoader {
    /// A reply of a ``MockLoader`` to one request.
    public struct Reply: Sendable {
        let make: @Sendable (HTTPRequest) async -> HTTPResult
        let hold: Gate?

        /// Makes a reply from a closure.
        public init(_ make: @escaping @Sendable (HTTPRequest) async -> HTTPResult) {
            self.init(hold: nil, make)
        }

        private init(hold: Gate?, _ make: @escaping @Sendable (HTTPRequest) async -> HTTPResult) {
            self.hold = hold
            self.make = make
        }

        /// A response.
        ///
        /// The request's body is read first, as a server does; a body that cannot be read fails the exchange.
        ///
        /// - Parameters:
        ///   - status: the status of the response.
        ///   - headers: the header fields.
        ///   - body: the body.
        ///   - bytesSent: the bytes of the request that were sent; nil if the transport cannot tell.
        public static func status(
            _ status: HTTPStatus,
            headers: HTTPHeaders = [:],
            body: HTTPBody = .empty,
            bytesSent: Int64? = nil
        ) -> Reply {
            Reply { request in
                if let failure = await readBody(of: request) { return .failure(failure) }
                let facts = HTTPResponse.Exchange(bytesSent: bytesSent)
                return .success(
                    HTTPResponse(request: request, status: status, headers: headers, body: body, exchange: facts)
                )
            }
        }

        /// A failure of the exchange.
        ///
        /// The request's body is read first, unless no byte was sent.
        ///
        /// - Parameters:
        ///   - code: the kind of failure.
        ///   - bytesSent: the bytes of the request that may have been sent; nil if the transport cannot tell.
        ///   - message: a description of the failure.
        public static func failure(
            _ code: HTTPError.Code,
            bytesSent: Int64? = nil,
            message: String? = nil
        ) -> Reply {
            Reply { request in
                if bytesSent != 0, let failure = await readBody(of: request) { return .failure(failure) }
                return .failure(HTTPError(code, request: request, message: message, bytesSent: bytesSent))
            }
        }

        /// A reply that is delayed until its gate is released.
        ///
        /// It ends with `HTTPError.Code.cancelled` if the request is cancelled or the loader is reset before.
        public static func held(by hold: Gate, _ reply: Reply) -> Reply {
            Reply(hold: hold, reply.make)
        }

        private static func readBody(of request: HTTPRequest) async -> HTTPError? {
            guard !request.body.isEmpty else { return nil }
            do {
                _ = try await request.body.collect()
                return nil
            } catch {
                let code: HTTPError.Code =
                    request.body.replayability == .onceAndRead ? .requestBodyStreamExhausted : .callerFailed
                return HTTPError(code, request: request, underlyingError: error, bytesSent: 0)
            }
        }
    }
}
