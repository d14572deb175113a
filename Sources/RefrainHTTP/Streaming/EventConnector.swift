/// Opens the connections of an event stream: one attempt is a connection up to its first event, or to its end.
final class EventConnector: HTTPLoader {
    /// A connection that was open for so long has worked, whether or not there was an event: as long as the longest
    /// wait of the default schedule.
    private static let minimumLife = Duration.seconds(30)

    private let loader: any HTTPLoader
    private let limit: Int
    private let clocks: RetryClocks
    private let state = Locked(State())

    /// A connection that has brought an event.
    struct Connection {
        let first: HTTPBody.ServerSentEvent
        let events: HTTPBody.ServerSentEvents.Iterator
    }

    private struct State {
        var lastEventID = ""
        var reconnectionDelay = Duration.zero
        var failure: HTTPError?
        var tooLong: HTTPBody.LineTooLong?
        // nonisolated(unsafe): written by the one attempt that is made at a time, and taken after the last one.
        nonisolated(unsafe) var connection: Connection?
        var silentEnd: HTTPError?
        var isComplete = false
    }

    init(_ loader: any HTTPLoader, limit: Int, clocks: RetryClocks) {
        self.loader = loader
        self.limit = limit
        self.clocks = clocks
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
        let lastEventID = state.withLock { $0.lastEventID }
        var request = request
        // White space at the ends is no part of a field's value.
        let field = String(Substring(FieldValues.trimmed(lastEventID[...].utf8)))
        if !field.isEmpty, HTTPToken.isValidFieldValue(field) { request.headers["Last-Event-ID"] = field }
        let result = await connect(request)
        guard case .success(let response) = result, response.status == .ok else { return result }
        let type = MediaType.parse(fieldValues: response.headers[values: "Content-Type"])
        guard type?.type == "text", type?.subtype == "event-stream" else {
            let message = "an event stream was asked for, and the content type is another one"
            return .failure(HTTPError(.badServerResponse, request: request, response: response, message: message))
        }
        return await open(response, to: request, ServerSentEventParser(lastEventID: lastEventID, limit: limit))
    }

    /// Opens a connection within the time of the call and of the attempt, which end with the head of the response: the
    /// stream itself lasts for as long as the server has something to say.
    private func connect(_ request: HTTPRequest) async -> HTTPResult {
        guard let limit = request.timeLeft else { return await loader.load(request) }
        var unlimited = request
        unlimited.timeout = nil
        unlimited.deadline = nil
        unlimited.attemptTimeout = nil
        let (result, isCut) = await withTimeout(limit.clampedToDelay, on: clocks.timer) { [loader, unlimited] in
            await loader.load(unlimited)
        }
        guard isCut, case .failure(var error) = result, error.code == .cancelled else { return result }
        error.code = .timedOut
        error.message = "no answer to the request for an event stream within \(limit)"
        return .failure(error)
    }

    /// Reads the first event: a connection that ends before it has brought nothing.
    private func open(
        _ response: HTTPResponse,
        to request: HTTPRequest,
        _ parser: ServerSentEventParser
    ) async -> HTTPResult {
        var events = HTTPBody.ServerSentEvents.Iterator(response.body, parser, limit: limit)
        let start = clocks.now
        do {
            let first = try await events.next()
            adopt(events.parser)
            guard let first else {
                // What is not safe has been executed and answered, if with nothing (rule R36).
                if !request.method.isSafe {
                    state.withLock { $0.isComplete = true }
                    return .success(response)
                }
                return end(response, lost(response, "the event stream ended before its first event", nil), start)
            }
            let connection = Connection(first: first, events: events)
            state.withLock { $0.connection = connection }
            return .success(response)
        } catch let error as HTTPError {
            adopt(events.parser)
            return end(response, error, start)
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
