// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Reads the events of one connection, and ends it where no event comes in time (rule R36).
///
/// Only reading counts: the time that the reader takes between two events is its own. Used by one task at a time.
final class EventReader: Sendable {
    private let request: HTTPRequest
    private let idle: Duration?
    private let pings: Set<String>
    private let isOneAnswer: Bool
    /// Whether the profile is one of a model API.
    private let knowsEnds: Bool
    private let timer: AnyClock
    // nonisolated(unsafe): the one task that reads waits for the one that it reads within a limit.
    nonisolated(unsafe) private var events: HTTPBody.ServerSentEvents.Iterator
    /// For how long nothing but signs of life has come.
    nonisolated(unsafe) private var silence = Duration.zero
    /// The number of events that were read, without signs of life.
    nonisolated(unsafe) private(set) var count = 0
    /// The events of which one has to come before the end; nil: there are none, or it has come.
    nonisolated(unsafe) private var missingEnds: Set<String>?
    /// Whether no event came in time.
    nonisolated(unsafe) private(set) var hasGivenUp = false

    /// - Parameters:
    ///   - profile: which events are signs of life, how long a stream may do without others, unless the request says
    ///     it, and which event it ends with.
    ///   - isOneAnswer: whether the stream is an answer that has an end, which may be cut short (rule R10).
    init(
        _ events: HTTPBody.ServerSentEvents.Iterator,
        of request: HTTPRequest,
        profile: ServerProfile?,
        isOneAnswer: Bool,
        on timer: AnyClock
    ) {
        self.events = events
        self.request = request
        self.isOneAnswer = isOneAnswer
        knowsEnds = profile?.streamErrors.isEmpty == false
        idle = request.timeouts.eventIdle(orElse: profile?.eventIdle)
        pings = profile?.pings ?? []
        self.timer = timer
    }

    /// What the stream has set beside its events.
    var parser: ServerSentEventParser { events.parser }

    /// Whether an event says only that the connection lives.
    func isPing(_ event: HTTPBody.ServerSentEvent) -> Bool { pings.contains(event.type) }

    /// The first event that says something, or nil at the end.
    ///
    /// - Parameter limit: the time for it, besides the idle limit.
    func first(within limit: Duration?) async throws -> HTTPBody.ServerSentEvent? {
        let end = limit.map { timer.now.advanced(by: $0.clampedToDelay) }
        repeat {
            let event = try await next(until: end)
            guard let event, isPing(event) else { return event }
        } while true
    }

    /// The next event, or nil at the end.
    ///
    /// - Throws: ``HTTPError/Code/timedOut`` where none comes in time, ``HTTPBody/LineTooLong``, or the error of the
    ///   body.
    func next() async throws -> HTTPBody.ServerSentEvent? { try await next(until: nil) }

    private func next(until end: AnyClock.Instant?) async throws -> HTTPBody.ServerSentEvent? {
        let start = timer.now
        let idleEnd = idle.map { start.advanced(by: max(.zero, $0 - silence)) }
        let event: HTTPBody.ServerSentEvent?
        if let end = [end, idleEnd].compactMap({ $0 }).min() {
            let (result, isCut) = await withTimeout(until: end, on: timer) { [self] in await read() }
            // What has come as the time passed is not lost.
            if isCut, (try? result.get()) == nil {
                hasGivenUp = true
                throw timedOut
            }
            event = try result.get()
        } else {
            event = try await events.next()
        }
        guard let event else { return try lastEvent() }
        note(event, since: start)
        return event
    }

    private func note(_ event: HTTPBody.ServerSentEvent, since start: AnyClock.Instant) {
        if isPing(event) {
            silence += start.duration(to: timer.now)
        } else {
            silence = .zero
            count += 1
        }
        if knowsEnds, let ends = ServerProfile.answerEnds[event.type] { missingEnds = ends }
        if event.type == "error" || missingEnds?.contains(event.type) == true { missingEnds = nil }
    }

    /// The last event of a body that has ended, whose empty line may be missing, or nil.
    ///
    /// - Throws: ``HTTPError/Code/networkConnectionLost`` where an answer is not whole.
    private func lastEvent() throws -> HTTPBody.ServerSentEvent? {
        guard isOneAnswer else { return nil }
        let data = events.unfinishedData
        if data == "[DONE]" { return HTTPBody.ServerSentEvent(data: "[DONE]", lastEventID: parser.lastEventID) }
        guard data != nil || missingEnds != nil else { return nil }
        let missing = missingEnds.map { " without \($0.sorted().joined(separator: ", "))" } ?? " within an event"
        let message = "the event stream ended\(missing), after \(count) events"
        throw HTTPError(.networkConnectionLost, request: request, message: message)
    }

    private func read() async -> Result<HTTPBody.ServerSentEvent?, any Error> {
        do {
            return .success(try await events.next())
        } catch {
            return .failure(error)
        }
    }

    private var timedOut: HTTPError {
        let message =
            count == 0
            ? "the event stream brought no event in time"
            : "the event stream brought no further event in time, after \(count)"
        return HTTPError(.timedOut, request: request, message: message)
    }
}
