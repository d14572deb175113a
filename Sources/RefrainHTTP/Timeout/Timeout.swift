// SPDX-License-Identifier: Apache-2.0
/// Sets default time limits for the attempts that pass through it.
///
/// ```swift
/// let loader = Retry(RetryPolicy.recommended)
///     --> Timeout(total: .seconds(10))
///     --> PlatformLoader()
/// ```
///
/// The stage fills in the limits of ``HTTPRequest/timeouts`` that a request does not set, and enforces the total: if
/// the next loader enforces limits itself (``HTTPLoader/keepsTimeouts``), the stage leaves it to that loader; otherwise
/// it cancels the loader when the limit has passed. The total then includes all waits behind the stage, and the body. A
/// streamed body of a loader that keeps no time is also cut by the maximum time without a byte, while it is read.
///
/// An attempt that exceeds a limit fails with ``HTTPError/Code/timedOut`` and may be retried. A cancellation by the
/// caller is reported as ``HTTPError/Code/cancelled``. After ``Retry`` the limits apply to each attempt, before it to
/// all attempts together. A stream of events (``HTTPLoader/events(for:retrying:budgets:clocks:random:upTo:resume:)``)
/// may last for longer: there the total ends with the head of the response.
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
        var limits = request.timeouts
        limits.fill(from: self.limits)
        if limits != request.timeouts { request.timeouts = limits }
        let total = request.isTimedToHead ? self.limits.total : next.keepsTimeouts ? nil : request.timeLeft
        let end = request.isTimedToHead ? nil : total.map { clocks.timer.now.advanced(by: $0.clampedToDelay) }
        let result =
            if let total {
                await race(request, total.clampedToDelay, next)
            } else {
                await next.load(request)
            }
        guard request.streamsResponse, !request.isTimedToHead, !next.keepsTimeOfBodies else { return result }
        return result.map { $0.keepingTimeOfBody(for: request, until: end, on: clocks.timer) }
    }

    private func race(_ request: HTTPRequest, _ total: Duration, _ next: any HTTPLoader) async -> HTTPResult {
        let (result, isCut) = await withTimeout(total, on: clocks.timer) {
            let result = await next.load(request)
            // A body that the loader has left to be read is a part of the attempt, unless it is a stream.
            guard case .success(let response) = result,
                !request.deferredBodies.contains(status: response.status.rawValue)
            else { return result }
            return await response.collected(for: request)
        }
        return isCut ? result.timedOut(request, "no complete answer within \(total)") : result
    }
}

extension HTTPLoader {
    /// Whether the transport enforces ``HTTPRequest/timeouts`` up to the end of a streamed body.
    var keepsTimeOfBodies: Bool { ((self as? ChainedLoader)?.last ?? self).keepsTimeouts }
}

extension HTTPResponse {
    /// This response of a loader that keeps no time, with a streamed body that fails where no part comes in time.
    ///
    /// - Parameters:
    ///   - request: has the maximum time without a byte.
    ///   - end: when the whole body has to be there; nil: no limit.
    func keepingTimeOfBody(
        for request: HTTPRequest,
        until end: AnyClock.Instant? = nil,
        on timer: AnyClock
    ) -> HTTPResponse {
        let idle = request.timeouts.silence
        guard idle != nil || end != nil, case .oneShot(let source) = body.storage else { return self }
        // nonisolated(unsafe): the iterator stays with its source, which has one reader at a time.
        nonisolated(unsafe) var chunks = body.makeAsyncIterator()
        let timed = ChunkSource {
            let idleEnd = idle.map { timer.now.advanced(by: $0) }
            guard let limit = [idleEnd, end].compactMap({ $0 }).min() else { return try await chunks.next() }
            let (chunk, isCut) = await withTimeout(until: limit, on: timer) {
                () -> Result<HTTPBody.Chunk?, any Error> in
                do { return .success(try await chunks.next()) } catch { return .failure(error) }
            }
            // Some sequences end where they are cancelled.
            guard isCut, (try? chunk.get()) == nil else { return try chunk.get() }
            throw HTTPError(.timedOut, request: request, message: "the body did not go on in time")
        }
        var response = self
        response.body = HTTPBody(.oneShot(OneShotSource(length: source.length, timed)), contentType: body.contentType)
        return response
    }
}

extension HTTPResult {
    /// Returns the result of a call that its limit has cancelled: a response that was complete by then counts.
    func timedOut(_ request: HTTPRequest, _ message: String) -> HTTPResult {
        switch self {
        // A loader of the caller's may have another name for its cancellation.
        case .failure(var error) where [.cancelled, .unknown, .callerFailed].contains(error.code):
            error.code = .timedOut
            error.message = message
            return .failure(error)
        case .success(let response) where request.streamsResponse:
            // The limit may have cut its body, whose error would be a cancellation.
            return .failure(HTTPError(.timedOut, request: request, response: response, message: message))
        default: return self
        }
    }
}

extension Timeout {
    /// The time limits of one attempt; nil means no limit.
    ///
    /// An attempt that exceeds a limit fails with ``HTTPError/Code/timedOut``, which is distinct from a cancellation.
    /// The limit of the whole call, ``HTTPRequest/timeout``, is independent of these.
    ///
    /// The value records which limits were set, also to nil, so that a ``Timeout`` stage fills in only the others.
    public struct Limits: Sendable {
        /// The time to resolve the host name, connect and complete the TLS handshake.
        public var connect: Duration? {
            didSet {
                connect = connect?.withinClocks
                chosen.insert(.connect)
            }
        }
        /// The time from the start of the attempt to the first byte of the response.
        public var firstByte: Duration? {
            didSet {
                firstByte = firstByte?.withinClocks
                chosen.insert(.firstByte)
            }
        }
        /// The maximum time without a byte in either direction, once the request is being sent.
        ///
        /// It does not run while the transport waits for the caller: for a body source without a chunk, or for a reader
        /// of a streamed response.
        public var idle: Duration? {
            didSet {
                idle = idle?.withinClocks
                chosen.insert(.idle)
            }
        }
        /// The time of the whole attempt, including the bodies.
        public var total: Duration? {
            didSet {
                total = total?.withinClocks
                chosen.insert(.total)
            }
        }

        /// The time from the start of the attempt to the first event of a stream of server-sent events.
        ///
        /// Defaults to nil: no limit. A comment is no event, nor is one of ``ServerProfile/pings``.
        public var firstEvent: Duration? {
            didSet {
                firstEvent = firstEvent?.withinClocks
                chosen.insert(.firstEvent)
            }
        }
        /// The maximum time without an event in a stream of server-sent events, while it is read.
        ///
        /// Defaults to nil: no limit, or that of the ``ServerProfile``. Comments and pings do not count, so that a
        /// server that says only that it is alive is given up.
        public var eventIdle: Duration? {
            didSet {
                eventIdle = eventIdle?.withinClocks
                chosen.insert(.eventIdle)
            }
        }

        /// ``eventIdle``, or another limit where the caller has not set it.
        func eventIdle(orElse other: Duration?) -> Duration? { chosen.contains(.eventIdle) ? eventIdle : other }

        /// The maximum time of silence, for transports: ``idle``, or without one of the caller's the longest limit that
        /// the caller has set for the first byte or the whole attempt, if that is longer.
        ///
        /// A server that is allowed five minutes may be silent for so long.
        package var silence: Duration? {
            guard let idle, !chosen.contains(.idle) else { return idle }
            let first = chosen.contains(.firstByte) ? firstByte : nil
            let whole = chosen.contains(.total) ? total : nil
            return [first, whole].compactMap { $0 }.reduce(idle, max)
        }

        private var chosen: Parts

        /// The default limits: 10 s to connect, 60 s of inactivity.
        ///
        /// There is no limit on the whole attempt, because the duration of a download is unknown; inactivity detects an
        /// unresponsive peer. 60 s is URLSession's default.
        public static let standard = Limits(
            connect: .seconds(10),
            firstByte: nil,
            idle: .seconds(60),
            total: nil,
            chosen: []
        )

        /// Makes limits; nil means no limit.
        public init(connect: Duration?, firstByte: Duration?, idle: Duration?, total: Duration?) {
            self.init(connect: connect, firstByte: firstByte, idle: idle, total: total, chosen: .all)
        }

        private init(connect: Duration?, firstByte: Duration?, idle: Duration?, total: Duration?, chosen: Parts) {
            self.connect = connect?.withinClocks
            self.firstByte = firstByte?.withinClocks
            self.idle = idle?.withinClocks
            self.total = total?.withinClocks
            self.chosen = chosen
        }

        /// Sets the limits that were not set here to those of another value.
        ///
        /// Limits that the other value has not set are unchanged. A total that was only shortened (``cutTotal(to:)``)
        /// stays shortened.
        mutating func fill(from other: Limits) {
            let before = chosen
            if !before.contains(.connect), let limit = other.connect { connect = limit }
            if !before.contains(.firstByte), let limit = other.firstByte { firstByte = limit }
            if !before.contains(.idle), let limit = other.idle { idle = limit }
            if !before.contains(.total), let limit = other.total { total = min(total ?? limit, limit) }
            chosen = before
        }

        /// Shortens the total limit to the time remaining before a deadline, without recording it as set by the caller.
        mutating func cutTotal(to remaining: Duration) {
            let before = chosen
            total = min(total ?? remaining, remaining)
            chosen = before
        }

        private struct Parts: OptionSet {
            let rawValue: UInt8
            static let connect = Parts(rawValue: 1)
            static let firstByte = Parts(rawValue: 2)
            static let idle = Parts(rawValue: 4)
            static let total = Parts(rawValue: 8)
            static let firstEvent = Parts(rawValue: 16)
            static let eventIdle = Parts(rawValue: 32)
            /// What the initializer sets.
            static let all: Parts = [.connect, .firstByte, .idle, .total]
        }
    }
}

extension Timeout.Limits: Hashable {
    /// Whether the limits are equal, regardless of which were set.
    public static func == (left: Timeout.Limits, right: Timeout.Limits) -> Bool {
        left.connect == right.connect && left.firstByte == right.firstByte && left.idle == right.idle
            && left.total == right.total && left.firstEvent == right.firstEvent && left.eventIdle == right.eventIdle
    }

    /// Hashes the limits.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(connect)
        hasher.combine(firstByte)
        hasher.combine(idle)
        hasher.combine(total)
        hasher.combine(firstEvent)
        hasher.combine(eventIdle)
    }
}

private enum TimedToHeadOption: HTTPRequestOption {
    static let defaultValue = false
}

extension HTTPRequest {
    /// Whether the total of a ``Timeout`` stage ends with the head of the response, as for a stream of events.
    ///
    /// The request then has no total of its own.
    var isTimedToHead: Bool {
        get { self[option: TimedToHeadOption.self] }
        set { self[option: TimedToHeadOption.self] = newValue }
    }
}

private enum TimeoutsOption: HTTPRequestOption {
    static let defaultValue = Timeout.Limits.standard
}

extension HTTPRequest {
    /// The limits of each attempt.
    public var timeouts: Timeout.Limits {
        get { self[option: TimeoutsOption.self] }
        set { self[option: TimeoutsOption.self] = newValue }
    }

    /// The time for one whole attempt, body included.
    ///
    /// Defaults to nil: no limit. It is ``Timeout/Limits/total`` of ``timeouts``.
    public var attemptTimeout: Duration? {
        get { timeouts.total }
        set { timeouts.total = newValue }
    }
}
