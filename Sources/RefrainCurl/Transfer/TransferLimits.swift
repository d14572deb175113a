// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore
internal import RefrainHTTP

/// The time limits of a request in nanoseconds; `MonotonicTime.never` for none.
///
/// A class, because nearly all transfers share the standard limits: a value would take 32 bytes of each waiting
/// transfer.
final class Limits: Sendable {
    let connect: Int64
    let firstByte: Int64
    let idle: Int64
    let total: Int64

    /// The limits of most requests, converted once.
    private static let standard = Limits(converting: .standard)

    /// Returns the limits for these timeouts.
    static func of(_ timeouts: Timeout.Limits) -> Limits {
        timeouts == .standard ? standard : Limits(converting: timeouts)
    }

    private init(converting timeouts: Timeout.Limits) {
        connect = timeouts.connect?.delayInNanoseconds ?? .never
        firstByte = timeouts.firstByte?.delayInNanoseconds ?? .never
        idle = timeouts.silence?.delayInNanoseconds ?? .never
        total = timeouts.total?.delayInNanoseconds ?? .never
    }
}

/// When a transfer exceeds a limit: of its whole time, of connecting, of the first byte, of silence, and of what is
/// read or awaited after the response.
struct TransferLimits {
    /// What a transfer does at present, which decides which limits apply.
    struct Situation {
        /// Whether nothing was sent, and it waits for no other transfer's connection.
        var isConnecting = false
        /// Whether the request was sent.
        var isSent = false
        var hasAnswerBegun = false
        /// Whether the caller reads the response too slowly.
        var isReceivePaused = false
        /// Whether the caller supplies the body too slowly.
        var isSendPaused = false
        /// Whether a response is received that does not wait for the body.
        var isAnswering = false
        /// Whether the response is complete, and the server may still read the request.
        var awaitsReading = false
        /// For how many nanoseconds the transfer may be silent because of a rate limit of our own.
        var ownPause: Int64 = 0
    }

    private let limits: Limits
    private var connect = MonotonicTime.never
    private var total = MonotonicTime.never
    private var firstByte = MonotonicTime.never
    private var drain = MonotonicTime.never
    /// When the response is delivered although its body is incomplete; ``MonotonicTime/never`` for most.
    private(set) var handOver = MonotonicTime.never
    /// When a byte was last sent or received.
    private(set) var lastActivity = MonotonicTime.never

    /// How much later than libcurl's own limit the one of connecting is, in nanoseconds.
    private static let graceOfLibcurl: Int64 = 50_000_000
    /// How long a request with a complete response waits for the server to read more of its body, in nanoseconds.
    private static let graceOfAnsweredRequests: Int64 = 1_000_000_000
    /// How long to wait for a deferred body, in nanoseconds.
    ///
    /// The body of most errors and redirects arrives together with the head. A short wait for it takes less time than
    /// reading it as a stream, or making another connection meanwhile.
    private static let graceOfDeferredBodies: Int64 = 20_000_000
    /// The interval of the checks of a transfer that waits for the source of its body.
    static let pauseCheckInterval: Int64 = 1_000_000_000

    init(_ timeouts: Timeout.Limits) { limits = Limits.of(timeouts) }

    /// How long connecting may take, in nanoseconds.
    var connectTime: Int64 { limits.connect }

    /// Begins the limits that include the wait for a connection.
    mutating func begin(submittedAt: MonotonicTime) {
        total = submittedAt.after(limits.total)
        firstByte = submittedAt.after(limits.firstByte)
    }

    /// Begins the connect limit, which a second start does not restart.
    ///
    /// libcurl enforces it too, except while a transfer waits for another one's connection.
    mutating func beginConnecting(now: MonotonicTime) {
        if connect == .never { _ = restartConnecting(now: now) }
    }

    /// Restarts the connect limit of a transfer that has waited for others before; returns it.
    mutating func restartConnecting(now: MonotonicTime) -> MonotonicTime {
        connect = now.after(limits.connect).after(Self.graceOfLibcurl)
        return connect
    }

    /// The time left for libcurl to connect, in nanoseconds; `never` without a limit.
    func timeToConnect(now: MonotonicTime) -> Int64 {
        connect == .never ? .never : max(0, connect &- now &- Self.graceOfLibcurl)
    }

    mutating func noteActivity(now: MonotonicTime) { lastActivity = now }

    /// Begins the limit for the rest of a body that is not read; returns it.
    mutating func beginDraining(now: MonotonicTime) -> MonotonicTime {
        drain = now.after(UnreadBody.timeout.delayInNanoseconds)
        return drain
    }

    /// Begins the wait for a deferred body; returns its end.
    mutating func beginWaitForBody(now: MonotonicTime) -> MonotonicTime {
        handOver = now.after(Self.graceOfDeferredBodies)
        return handOver
    }

    /// Ends the wait for a deferred body.
    mutating func endWaitForBody() { handOver = .never }

    /// When to stop waiting for a server that has responded and reads no more of the request.
    var endOfAnswered: MonotonicTime { lastActivity.after(Self.graceOfAnsweredRequests) }

    /// When the transfer exceeds a limit, unless its situation changes.
    func limit(_ situation: Situation) -> MonotonicTime {
        var limit = min(total, situation.hasAnswerBegun ? .never : firstByte, drain)
        if situation.isConnecting { limit = min(limit, connect) }
        if situation.isSent, !situation.isReceivePaused, !situation.isSendPaused || situation.isAnswering {
            limit = min(limit, lastActivity.after(limits.idle).after(situation.ownPause))
        }
        if situation.awaitsReading { limit = min(limit, endOfAnswered) }
        return limit
    }

    /// When to check the limits again, independently of the transfer's events.
    ///
    /// - Parameter nextAddress: when libcurl must be called again so that it tries the next address.
    func nextCheck(_ situation: Situation, nextAddress: MonotonicTime, now: MonotonicTime) -> MonotonicTime {
        let limit = limit(situation)
        if handOver != .never { return min(limit, handOver) }
        if !situation.isSent, nextAddress != .never { return min(limit, nextAddress) }
        if situation.isSendPaused { return min(limit, now.after(Self.pauseCheckInterval)) }
        let isSuspended = !situation.isSent || situation.isReceivePaused
        return isSuspended ? min(limit, now.after(limits.idle)) : limit
    }

    /// The message of the limit that has passed.
    func message(_ situation: Situation, now: MonotonicTime) -> String {
        if total <= now { return "the attempt took longer than its total time" }
        if !situation.hasAnswerBegun, firstByte <= now { return "the first byte of the response did not come in time" }
        if situation.isConnecting, connect <= now { return "no connection was made in time" }
        if drain <= now { return "the body was dropped unread" }
        return "nothing was sent or received for too long"
    }
}
