// SPDX-License-Identifier: Apache-2.0
extension HTTPLoader {
    /// The server-sent events of a request, which reconnects where the stream ends or breaks (HTML Standard §9.2).
    ///
    /// ```swift
    /// for try await event in loader.events(for: request) {
    ///     print(event.type, event.data)
    /// }
    /// ```
    ///
    /// Each connection asks for `text/event-stream`, and sends the identifier of the last event as `Last-Event-ID`. The
    /// wait before a reconnection is what the strategy decides, and at least what the stream has set by `retry:`, up to
    /// the cap of ``HTTPRequest/retryAfterPolicy``. Connections that bring no event are attempts of one call, with its
    /// limit of attempts, its timeout and its budget. An event starts a new call, and so does the end of a connection
    /// that was open for 30 seconds: a stream may be silent for hours. The body is pulled as the events are.
    /// ``HTTPRequest/timeout`` and ``HTTPRequest/attemptTimeout`` end with the head of the response; a stream that has
    /// begun is cut by limits of ``HTTPRequest/timeouts`` alone: `idle`, where not even a byte comes, `firstEvent` and
    /// `eventIdle`, where no event does. With a ``ServerProfile`` in the policy, a stream that begins with an error has
    /// the status of that error to the policy.
    ///
    /// A 204 ends the sequence. So does the normal end of a stream whose method is not safe, such as a POST (rule R36):
    /// the end of the body, or an event with the data `[DONE]`. A body that ends within an event, or before the one
    /// that answers of a preset end with, such as `message_stop`, was cut short (rule R10): its stream has broken,
    /// however the connection has ended. A stream of a POST that breaks is decided on as any failure is (rule R2): with
    /// an idempotency key the request is sent again, with the same key over all connections of the sequence, and
    /// without one the error is thrown. Any other status than 200, another content type and a failure are decided on as
    /// those of any request are; what is not retried is thrown.
    ///
    /// Where a server can go on with an answer that has begun, `resume` makes the request for the rest. It takes the
    /// place of the one before, for all connections that follow. One that differs from it in method, URL or body is
    /// sent whatever its method is; the same one is sent again only where the rules allow it. A `Last-Event-ID` that it
    /// has set is sent instead of the stream's.
    ///
    /// ```swift
    /// let events = loader.events(for: request, resume: { last in
    ///     try? HTTPRequest(
    ///         "https://api.example.com/jobs/7/events"
    ///             + "?after=\(last.lastEventID)"
    ///     )
    /// })
    /// ```
    ///
    /// For a POST whose answer is one stream, with nothing to reconnect to, read
    /// ``HTTPBody/serverSentEvents(upTo:)`` of a streamed response.
    ///
    /// - Parameters:
    ///   - request: the request for the stream. Its ``HTTPRequest/timeout`` is that of each call.
    ///   - strategy: decides whether and when to reconnect. Defaults to ``RetryPolicy/recommended``; a strategy of the
    ///     request's own goes before it. A ``Retry`` in the chain leaves the attempts to this one (rule R24).
    ///   - budgets: the budgets that reconnections draw on. By default all of the process share one for each origin.
    ///   - clocks: the clocks that waits are measured on.
    ///   - random: the source of jitter.
    ///   - limit: the largest number of bytes of one event's data and of one line, beyond which
    ///     ``HTTPBody/LineTooLong`` is thrown. Defaults to 1 MiB.
    ///   - resume: makes the request that goes on after a stream that broke, from the last event that was delivered.
    ///     Defaults to nil, and where it returns nil: the request itself is decided on. It is not asked before the
    ///     first event.
    public func events(
        for request: HTTPRequest,
        retrying strategy: any RetryStrategy = RetryPolicy.recommended,
        budgets: Retry.Budgets? = .shared,
        clocks: RetryClocks = .system,
        random: RandomSource = .shared,
        upTo limit: Int = HTTPBody.Lines.defaultLimit,
        resume: (@Sendable (_ last: HTTPBody.ServerSentEvent) -> HTTPRequest?)? = nil
    ) -> HTTPRequest.ServerSentEvents {
        let strategy = request.retryStrategy ?? strategy
        return HTTPRequest.ServerSentEvents(
            loader: self,
            request: request.askingForEvents,
            limit: max(1, limit),
            clocks: clocks,
            profile: (strategy as? RetryPolicy)?.profile,
            resume: { last in resume?(last)?.askingForEvents }
        ) { minimumDelay in
            let strategy = ReconnectionStrategy(base: strategy, minimumDelay: minimumDelay)
            return Retry(strategy, budgets: budgets, clocks: clocks, random: random)
        }
    }
}

extension HTTPRequest {
    /// This request as one for a stream of events, whose strategy is that of the sequence.
    fileprivate var askingForEvents: HTTPRequest {
        var request = self
        request.retryStrategy = nil
        request.streamsResponse = true
        if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
        if !request.headers.contains("Cache-Control") { request.headers["Cache-Control"] = "no-cache" }
        return request
    }
}

extension HTTPRequest {
    /// The server-sent events of a request, over as many connections as it takes.
    ///
    /// Made by ``HTTPLoader/events(for:retrying:budgets:clocks:random:upTo:resume:)``.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = HTTPBody.ServerSentEvent

        let loader: any HTTPLoader
        let request: HTTPRequest
        let limit: Int
        let clocks: RetryClocks
        let profile: ServerProfile?
        let resume: @Sendable (_ last: HTTPBody.ServerSentEvent) -> HTTPRequest?
        /// Makes the retry stage of one call; it is given the least wait.
        let makeRetry: @Sendable (_ minimumDelay: @escaping @Sendable () -> Duration) -> Retry

        /// Connects when the first event is requested.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }

        /// Reads one event after the other, and reconnects where a stream ends.
        public struct Iterator: AsyncIteratorProtocol {
            private let connector: EventConnector
            private let retry: Retry
            private let resume: @Sendable (_ last: HTTPBody.ServerSentEvent) -> HTTPRequest?
            /// Whether another connection follows where a stream ends as one does: the first request is safe.
            private let isEndless: Bool
            /// The request of the next connection, with its idempotency key, or why the key cannot be written.
            private var keyedRequest: Result<HTTPRequest, HTTPError>
            private var request: HTTPRequest
            private var reader: EventReader?
            private var last: HTTPBody.ServerSentEvent?
            private var hasEnded = false
            /// The budget that the last connection has made its deposit in.
            private var creditedBudget: ObjectIdentifier?

            init(_ stream: ServerSentEvents) {
                let connector = EventConnector(
                    stream.loader,
                    limit: stream.limit,
                    clocks: stream.clocks,
                    profile: stream.profile,
                    isEndless: stream.request.method.isSafe
                )
                self.connector = connector
                retry = stream.makeRetry { connector.reconnectionDelay }
                // A new key for each connection would hide from the server that they repeat one call (rule R5).
                keyedRequest = Result { () throws(HTTPError) in try stream.request.withIdempotencyKeyWritten() }
                request = stream.request
                isEndless = stream.request.method.isSafe
                resume = stream.resume
            }

            /// The next event, or nil where the server has ended the stream for good.
            ///
            /// - Throws: `CancellationError` where the task was cancelled, ``HTTPBody/LineTooLong``, or the
            ///   ``HTTPError`` of the last attempt to connect.
            public mutating func next() async throws -> HTTPBody.ServerSentEvent? {
                guard !hasEnded else { return nil }
                // Until there is an event: an error ends the sequence, too.
                hasEnded = true
                guard let open = reader.take() else { return passOn(try await connect(after: nil)) }
                let event: HTTPBody.ServerSentEvent?
                do {
                    event = try await open.next()
                } catch let error as HTTPBody.LineTooLong {
                    throw error
                } catch {
                    try Task.checkCancellation()
                    connector.adopt(open.parser)
                    let message = "the event stream broke after \(open.count) events"
                    guard let rest = last.flatMap(resume) else {
                        return passOn(try await connect(after: error as? HTTPError ?? lost(message, error)))
                    }
                    return passOn(try await connect(after: goOn(by: rest, after: lost(message, error))))
                }
                guard let event else { return isEndless ? passOn(try await reconnect(after: open.parser)) : nil }
                if !open.isPing(event) { last = event }
                reader = open
                return passOn(event)
            }

            /// Puts the request for the rest in the place of the one before; returns the end to decide on, or nil.
            private mutating func goOn(by rest: HTTPRequest, after end: HTTPError) throws -> HTTPError? {
                let earlier = try keyedRequest.get()
                connector.goOn(by: rest, after: request)
                request = rest
                keyedRequest = Result { () throws(HTTPError) in
                    try rest.keepingGeneratedKey(of: earlier).withIdempotencyKeyWritten()
                }
                var end = end
                end.request = rest
                guard !rest.repeats(earlier) else { return end }
                // It repeats nothing. One that must not be sent twice is a call of its own.
                guard rest.replay != .forbidden else { return nil }
                // Not a byte of another request has left (rule R2).
                end.bytesSent = 0
                return end
            }

            /// Returns an event, and notes whether another one may follow.
            ///
            /// `[DONE]` ends the answer to a request that must not be made again for more.
            private mutating func passOn(_ event: HTTPBody.ServerSentEvent?) -> HTTPBody.ServerSentEvent? {
                hasEnded = event == nil || !isEndless && event?.data == "[DONE]"
                return event
            }

            /// Reconnects after a stream that has ended as a stream does.
            private mutating func reconnect(after parser: ServerSentEventParser) async throws -> HTTPBody
                .ServerSentEvent?
            {
                connector.adopt(parser)
                do {
                    return try await connect(after: lost("the event stream ended", nil))
                } catch let error as HTTPError {
                    let reasons: [RetryReason?] = [.notReplayable, .replayForbidden, .bodyNotReplayable]
                    if error.attempts.count == 1, reasons.contains(error.attempts[0].reason) { return nil }
                    throw error
                }
            }

            /// Connects, as often as the strategy decides, and returns the first event.
            ///
            /// - Parameter failure: the end of the last connection, which is the first attempt that is decided on.
            private mutating func connect(after failure: HTTPError?) async throws -> HTTPBody.ServerSentEvent? {
                let request = try keyedRequest.get()
                var end = failure
                var response: HTTPResponse
                repeat {
                    end?.creditedBudget = creditedBudget
                    connector.begin(after: end)
                    let result = await retry.load(request, next: connector)
                    try Task.checkCancellation()
                    if let error = connector.tooLong { throw error }
                    response = try result.get()
                    guard response.status != .noContent, !connector.isComplete else { return nil }
                    creditedBudget = result.creditedBudget
                    if let connection = connector.take() {
                        (reader, last) = (connection.reader, connection.first)
                        return connection.first
                    }
                    // A stream that was open for long is not a failed attempt: the next call begins with its end.
                    end = connector.silentEnd
                } while end != nil
                let message = "an event stream was asked for, and the answer was \(response.status)"
                throw HTTPError(.badServerResponse, request: request, response: response, message: message)
            }

            private func lost(_ message: String, _ error: (any Error)?) -> HTTPError {
                HTTPError(.networkConnectionLost, request: request, underlyingError: error, message: message)
            }
        }
    }
}

/// The caller's strategy, with the least wait that an event stream has set.
private struct ReconnectionStrategy: RetryStrategy {
    let base: any RetryStrategy
    let minimumDelay: @Sendable () -> Duration

    func decide(_ result: HTTPResult, in context: RetryContext) async -> RetryDecision {
        var decision = await base.decide(result, in: context)
        let least = min(minimumDelay(), context.retryAfterPolicy.cap)
        guard least > .zero, case .retry(var delay) = decision.action else { return decision }
        // Clients that a server has lost all at once must not all return at the same moment (rule R17).
        let latest = least.addingSaturated(min(least / 10, .seconds(1)))
        delay.schedule = max(delay.schedule.lowerBound, least)...max(delay.schedule.upperBound, latest)
        decision.action = .retry(delay)
        return decision
    }
}

extension HTTPBody {
    /// The server-sent events of the body, which has the media type `text/event-stream` (HTML Standard §9.2).
    ///
    /// The events of one connection; ``HTTPLoader/events(for:retrying:budgets:clocks:random:upTo:resume:)``
    /// reconnects, too. An event that the body ends within is discarded, as the standard asks. The body is pulled as
    /// the events are.
    ///
    /// - Parameter limit: the largest number of bytes of one event's data and of one line, beyond which
    ///   ``LineTooLong`` is thrown. Defaults to 1 MiB.
    public func serverSentEvents(upTo limit: Int = Lines.defaultLimit) -> ServerSentEvents {
        ServerSentEvents(body: self, limit: Swift.max(1, limit))
    }

    /// The server-sent events of a body; see ``HTTPBody/serverSentEvents(upTo:)``.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = ServerSentEvent

        let body: HTTPBody
        let limit: Int

        /// Starts to read the body; a body that can be replayed starts from its beginning each time.
        public func makeAsyncIterator() -> Iterator {
            Iterator(body, ServerSentEventParser(limit: limit), limit: limit)
        }

        /// Reads a body event by event.
        public struct Iterator: AsyncIteratorProtocol {
            private var lines: ByteLines
            /// What the stream has set beside its events.
            private(set) var parser: ServerSentEventParser

            init(_ body: HTTPBody, _ parser: ServerSentEventParser, limit: Int) {
                lines = ByteLines(body, LineSplitter(.lineFeedOrCarriageReturn, limit: limit))
                self.parser = parser
            }

            /// The next event, or nil at the end.
            ///
            /// - Throws: ``LineTooLong``, or the error of the body.
            public mutating func next() async throws -> ServerSentEvent? {
                while let line = try await lines.next() {
                    if let event = try parser.take(line) { return event }
                }
                return nil
            }

            /// The data of the event that the body has ended within; nil where it has ended between two.
            var unfinishedData: String? { parser.unfinishedData(after: lines.incomplete) }
        }
    }
}

/// Opens the connections of an event stream: one attempt is a connection up to its first event, or to its end.
final class EventConnector: HTTPLoader {
    /// A connection that was open for so long has worked, whether or not there was an event: as long as the longest
    /// wait of the default schedule.
    private static let minimumLife = Duration.seconds(30)

    private let loader: any HTTPLoader
    private let limit: Int
    private let clocks: RetryClocks
    private let profile: ServerProfile?
    private let isEndless: Bool
    private let state = Locked(State())

    /// A connection that has brought an event.
    struct Connection {
        let first: HTTPBody.ServerSentEvent
        let reader: EventReader
    }

    private struct State {
        /// What the connections so far have come to; nil before the first one, to which what the caller sends applies.
        var lastEventID: String?
        var reconnectionDelay = Duration.zero
        var failure: HTTPError?
        var tooLong: HTTPBody.LineTooLong?
        var connection: Connection?
        var silentEnd: HTTPError?
        var isComplete = false
    }

    init(_ loader: any HTTPLoader, limit: Int, clocks: RetryClocks, profile: ServerProfile?, isEndless: Bool) {
        self.loader = loader
        self.limit = limit
        self.clocks = clocks
        self.profile = profile
        self.isEndless = isEndless
    }

    /// The least wait before a reconnection, as the stream has set it.
    var reconnectionDelay: Duration { state.withLock { $0.reconnectionDelay } }

    /// The error of a line that was longer than allowed, or nil.
    var tooLong: HTTPBody.LineTooLong? { state.withLock { $0.tooLong } }

    /// Keeps what a connection has set for those after it.
    func adopt(_ parser: ServerSentEventParser) {
        state.withLock { state in
            state.lastEventID = parser.lastEventID
            if let delay = parser.reconnectionDelay { state.reconnectionDelay = delay }
        }
    }

    /// Sends the identifier that the request for the rest has set, if it is another one than the request before it had.
    func goOn(by rest: HTTPRequest, after earlier: HTTPRequest) {
        guard let own = rest.headers["Last-Event-ID"], own != earlier.headers["Last-Event-ID"] else { return }
        state.withLock { $0.lastEventID = own }
    }

    /// Begins a call whose first attempt is the end of the last connection, or a new connection where that is nil.
    func begin(after failure: HTTPError?) {
        var failure = failure
        // Those of the call before; the end of its stream is the first attempt of this one.
        failure?.attempts = []
        state.withLock { [failure] state in
            state.failure = failure
            state.connection = nil
            state.silentEnd = nil
            state.isComplete = false
        }
    }

    /// Returns the connection of the call, once.
    func take() -> Connection? { state.withLock { $0.connection.take() } }

    /// How the connection of the call has ended, if it was open for long without an event.
    var silentEnd: HTTPError? { state.withLock { $0.silentEnd } }

    /// Whether the connection of the call was answered in full, without an event, to a method that is not safe.
    var isComplete: Bool { state.withLock { $0.isComplete } }

    func load(_ request: HTTPRequest) async -> HTTPResult {
        if let failure = state.withLock({ $0.failure.take() }) { return .failure(failure) }
        var request = request
        let known = state.withLock { $0.lastEventID }
        if let known {
            // White space at the ends is not part of a field's value. One that the stream has taken back is not sent.
            let field = String(Substring(FieldValues.trimmed(known[...].utf8)))
            let isSent = !field.isEmpty && HTTPToken.isValidFieldValue(field)
            request.headers["Last-Event-ID"] = isSent ? field : nil
        }
        let lastEventID = known ?? request.headers["Last-Event-ID"] ?? ""
        request.laterAnswer = profile == nil ? nil : LaterAnswer()
        let start = clocks.now
        let result = await connect(request)
        guard case .success(let response) = result else { return result }
        if let profile, profile.mustRead(response) { return .success(await response.withReadableBody()) }
        guard response.status == .ok else { return result }
        let type = MediaType.parse(fieldValues: response.headers[values: "Content-Type"])
        guard type?.type == "text", type?.subtype == "event-stream" else {
            let message = "an event stream was asked for, and the content type is another one"
            return .failure(HTTPError(.badServerResponse, request: request, response: response, message: message))
        }
        let parser = ServerSentEventParser(lastEventID: lastEventID, limit: limit)
        let timed = loader.keepsTimeOfBodies ? response : response.keepingTimeOfBody(for: request, on: clocks.timer)
        let events = HTTPBody.ServerSentEvents.Iterator(timed.body, parser, limit: limit)
        return await open(
            response,
            EventReader(events, of: request, profile: profile, isOneAnswer: !isEndless, on: clocks.timer),
            within: request.timeouts.firstEvent.map { max(.zero, $0 - (clocks.now - start)) },
            request.laterAnswer
        )
    }

    /// Opens a connection within the time of the call and of the attempt, which end with the head of the response: the
    /// stream itself lasts for as long as the server has something to say.
    private func connect(_ request: HTTPRequest) async -> HTTPResult {
        var unlimited = request
        unlimited.timeout = nil
        unlimited.deadline = nil
        unlimited.attemptTimeout = nil
        unlimited.isTimedToHead = true
        guard let limit = [request.timeLeft, request.timeouts.firstEvent].compactMap({ $0 }).min() else {
            return await loader.load(unlimited)
        }
        let (result, isCut) = await withTimeout(limit.clampedToDelay, on: clocks.timer) { [loader, unlimited] in
            await loader.load(unlimited)
        }
        return isCut ? result.timedOut(request, "no answer to the request for an event stream within \(limit)") : result
    }

    /// Reads the first event: a connection that ends before it has brought nothing.
    private func open(
        _ response: HTTPResponse,
        _ reader: EventReader,
        within limit: Duration?,
        _ laterAnswer: LaterAnswer?
    ) async -> HTTPResult {
        let start = clocks.now
        defer { adopt(reader.parser) }
        do {
            let first = try await reader.first(within: limit)
            guard let first else {
                // What is not safe has been executed and answered, if with nothing (rule R36).
                if !isEndless {
                    state.withLock { $0.isComplete = true }
                    return .success(response)
                }
                return end(response, lost(response, "the event stream ended before its first event", nil), start)
            }
            if let status = profile?.status(of: first) {
                // The server had said 200 before it knew.
                var answer = response
                (answer.status, answer.body) = (status, .text(first.data))
                laterAnswer?.arrive(answer)
                return .success(answer)
            }
            let connection = Connection(first: first, reader: reader)
            state.withLock { $0.connection = connection }
            return .success(response)
        } catch let error as HTTPError {
            // A limit of the caller's has passed, which is a failure however long the connection was open.
            return reader.hasGivenUp ? .failure(error) : end(response, error, start)
        } catch let error as HTTPBody.LineTooLong {
            state.withLock { $0.tooLong = error }
            let message = "a line of the event stream is too long"
            return .failure(HTTPError(.dataLengthExceedsMaximum, request: response.request, message: message))
        } catch {
            return end(response, lost(response, "the event stream broke", error), start)
        }
    }

    /// The result of a connection that has ended before its first event: a failure, unless it was open for long.
    private func end(_ response: HTTPResponse, _ error: HTTPError, _ start: Duration) -> HTTPResult {
        guard clocks.now - start >= Self.minimumLife else { return .failure(error) }
        state.withLock { $0.silentEnd = error }
        return .success(response)
    }

    private func lost(_ response: HTTPResponse, _ message: String, _ error: (any Error)?) -> HTTPError {
        HTTPError(.networkConnectionLost, request: response.request, underlyingError: error, message: message)
    }
}
