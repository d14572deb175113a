extension HTTPLoader {
    /// The server-sent events of a request, which reconnects where the stream ends or breaks (HTML Standard §9.2).
    ///
    /// ```swift
    /// for try await event in loader.events(for: request) { print(event.type, event.data) }
    /// ```
    ///
    /// Each connection asks for `text/event-stream`, and sends the identifier of the last event as `Last-Event-ID`. The
    /// wait before a reconnection is what the strategy decides, and at least what the stream has set by `retry:`, up to
    /// the cap of ``HTTPRequest/retryAfterPolicy``. Connections that bring no event are attempts of one call, with its
    /// limit of attempts, its timeout and its budget. An event starts a new call, and so does the end of a connection
    /// that was open for 30 seconds: a stream may be silent for hours. The body is pulled as the events are.
    /// ``HTTPRequest/timeout`` and ``HTTPRequest/attemptTimeout`` end with the head of the response; a stream that has
    /// begun is cut by the idle limit of ``HTTPRequest/timeouts`` alone.
    ///
    /// A 204 ends the sequence. So does the normal end of a stream whose method is not safe, such as a POST (rule R36):
    /// the end of the body, or an event with the data `[DONE]`. A stream of a POST that breaks is decided on as any
    /// failure is (rule R2): with an idempotency key the request is sent again, with the same key over all connections
    /// of the sequence, and without one the error is thrown. Any other status than 200, another content type and a
    /// failure are decided on as those of any request are; what is not retried is thrown.
    ///
    /// For a POST whose answer is one stream, with nothing to reconnect to, read
    /// ``HTTPBody/serverSentEvents(upTo:)`` of a streamed response.
    ///
    /// - Parameters:
    ///   - request: the request for the stream. Its ``HTTPRequest/timeout`` is that of each call.
    ///   - strategy: decides whether and when to reconnect. Defaults to ``RetryPolicy/recommended``; a strategy of the
    ///     request's own goes before it.
    ///   - budgets: the budgets that reconnections draw on. By default all of the process share one for each origin.
    ///   - clocks: the clocks that waits are measured on.
    ///   - random: the source of jitter.
    ///   - limit: the largest number of bytes of one event's data and of one line, beyond which
    ///     ``HTTPBody/LineTooLong`` is thrown. Defaults to 1 MiB.
    public func events(
        for request: HTTPRequest,
        retrying strategy: any RetryStrategy = RetryPolicy.recommended,
        budgets: Retry.Budgets? = .shared,
        clocks: RetryClocks = .system,
        random: RandomSource = .shared,
        upTo limit: Int = HTTPBody.Lines.defaultLimit
    ) -> HTTPRequest.ServerSentEvents {
        var request = request
        let strategy = request.retryStrategy ?? strategy
        request.retryStrategy = nil
        request.streamsResponse = true
        if !request.headers.contains("Accept") { request.headers["Accept"] = "text/event-stream" }
        if !request.headers.contains("Cache-Control") { request.headers["Cache-Control"] = "no-cache" }
        let limit = max(1, limit)
        return HTTPRequest.ServerSentEvents(loader: self, request: request, limit: limit, clocks: clocks) {
            minimumDelay in
            let strategy = ReconnectionStrategy(base: strategy, minimumDelay: minimumDelay)
            return Retry(strategy, budgets: budgets, clocks: clocks, random: random)
        }
    }
}

extension HTTPRequest {
    /// The server-sent events of a request, over as many connections as it takes.
    ///
    /// Made by ``HTTPLoader/events(for:retrying:budgets:clocks:random:upTo:)``.
    public struct ServerSentEvents: AsyncSequence, Sendable {
        /// One event.
        public typealias Element = HTTPBody.ServerSentEvent

        let loader: any HTTPLoader
        let request: HTTPRequest
        let limit: Int
        let clocks: RetryClocks
        /// Makes the retry stage of one call; it is given the least wait.
        let makeRetry: @Sendable (_ minimumDelay: @escaping @Sendable () -> Duration) -> Retry

        /// Connects when the first event is requested.
        public func makeAsyncIterator() -> Iterator { Iterator(self) }

        /// Reads one event after the other, and reconnects where a stream ends.
        public struct Iterator: AsyncIteratorProtocol {
            private let connector: EventConnector
            private let retry: Retry
            /// The request of every connection, with its idempotency key, or why the key cannot be written.
            private let keyedRequest: Result<HTTPRequest, HTTPError>
            private let request: HTTPRequest
            private var events: HTTPBody.ServerSentEvents.Iterator?
            private var hasEnded = false
            /// The budget that the last connection has made its deposit in.
            private var creditedBudget: ObjectIdentifier?

            init(_ stream: ServerSentEvents) {
                let connector = EventConnector(stream.loader, limit: stream.limit, clocks: stream.clocks)
                self.connector = connector
                retry = stream.makeRetry { connector.reconnectionDelay }
                // A new key for each connection would hide from the server that they repeat one call (rule R5).
                keyedRequest = Result { () throws(HTTPError) in try stream.request.withIdempotencyKeyWritten() }
                request = stream.request
            }

            /// The next event, or nil where the server has ended the stream for good.
            ///
            /// - Throws: `CancellationError` where the task was cancelled, ``HTTPBody/LineTooLong``, or the
            ///   ``HTTPError`` of the last attempt to connect.
            public mutating func next() async throws -> HTTPBody.ServerSentEvent? {
                guard !hasEnded else { return nil }
                // Until there is an event: an error ends the sequence, too.
                hasEnded = true
                guard var open = events.take() else { return passOn(try await connect(after: nil)) }
                let event: HTTPBody.ServerSentEvent?
                do {
                    event = try await open.next()
                } catch let error as HTTPBody.LineTooLong {
                    throw error
                } catch {
                    try Task.checkCancellation()
                    connector.adopt(open.parser)
                    let failure = error as? HTTPError ?? lost("the event stream broke", error)
                    return passOn(try await connect(after: failure))
                }
                guard event != nil else {
                    return request.method.isSafe ? passOn(try await reconnect(after: open.parser)) : nil
                }
                events = open
                return passOn(event)
            }

            /// Returns an event, and notes whether another one may follow.
            ///
            /// `[DONE]` ends the answer to a request that must not be made again for more.
            private mutating func passOn(_ event: HTTPBody.ServerSentEvent?) -> HTTPBody.ServerSentEvent? {
                hasEnded = event == nil || !request.method.isSafe && event?.data == "[DONE]"
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
                        events = connection.events
                        return connection.first
                    }
                    // What was open for long is no failed attempt: the next call begins with its end.
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
