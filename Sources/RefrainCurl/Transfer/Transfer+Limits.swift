internal import CurlShim
internal import RefrainCore
internal import RefrainHTTP

/// The time limits of a transfer in nanoseconds; `MonotonicTime.never` for none.
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

extension Transfer {
    /// Begins the limits that include the wait for a connection.
    func begin(_ iteration: LoopIteration) {
        self.iteration = iteration
        totalLimit = submittedAt.after(limits.total)
        firstByteLimit = submittedAt.after(limits.firstByte)
    }

    /// Begins the connect limit.
    func start() {
        // libcurl enforces this limit, except while a transfer waits for another one's connection. A second start does
        // not restart it.
        guard connectLimit == .never else { return }
        connectLimit = iteration.now.after(limits.connect).after(Self.graceOfLibcurl)
    }

    /// Whether only this transfer's limit ends connecting: libcurl's limit would end a request that waits for a stream.
    ///
    /// libcurl then does not divide the time among several addresses, so a silent one may take all of it.
    var limitsConnectItself: Bool { CurlVersion.countsWaitAsConnecting && host?.isMultiplexed == true }

    /// Restarts the connect limit when connecting begins, because the transfer may have waited for others before.
    func noteConnecting() {
        guard limitsConnectItself, opened.isEmpty else { return }
        connectLimit = iteration.now.after(limits.connect).after(Self.graceOfLibcurl)
        iteration.nextLimit = min(iteration.nextLimit, connectLimit)
    }

    /// How much later than libcurl's own limit this one is, in nanoseconds.
    private static let graceOfLibcurl: Int64 = 50_000_000

    /// The time left for libcurl to connect, in nanoseconds; `never` without a limit.
    var timeToConnect: Int64 {
        connectLimit == .never ? .never : max(0, connectLimit &- iteration.now &- Self.graceOfLibcurl)
    }

    /// Records that a byte was sent or received.
    func noteActivity() {
        lastActivity = iteration.now
        iteration.hadActivity = true
        refrain_watch_deliver(iteration.watch)
    }

    /// When the transfer exceeds a limit, unless its state changes.
    var limit: MonotonicTime {
        var limit = min(totalLimit, head.hasBegun ? .never : firstByteLimit, drainLimit)
        if sends == 0, !waitsForOthers { limit = min(limit, connectLimit) }
        if sends > 0, !isReceivePaused, !isSendPaused || isAnswering {
            limit = min(limit, lastActivity.after(limits.idle).after(ownPause))
        }
        if isAnsweredEarly, !isReceivePaused, !awaitsBodyAfterAnswer {
            limit = min(limit, lastActivity.after(Self.graceOfAnsweredRequests))
        }
        return limit
    }

    /// For how long the transfer may be silent because of a rate limit of our own.
    private var ownPause: Int64 { handle?.longestPause ?? 0 }

    /// Whether it waits for a stream on another transfer's connection, or for that connection, rather than for its own.
    ///
    /// libcurl enforces the connect limit itself from the beginning of connecting.
    private var waitsForOthers: Bool {
        guard let host else { return false }
        return host.sent > 0 && opened.isEmpty
    }

    /// Whether a collected response has begun over HTTP/2.
    ///
    /// The transfer then waits not only for the source of the request's body, and libcurl (7.88) would not notice the
    /// end of the response while it waits for that source.
    private var isAnswering: Bool { head.isComplete && head.version == .http2 && pipe == nil }

    /// When to check the limits again, independently of the transfer's events.
    var nextCheck: MonotonicTime {
        if handOverLimit != .never { return min(limit, handOverLimit) }
        if sends == 0, opened.nextCheck != .never { return min(limit, opened.nextCheck) }
        if isSendPaused { return min(limit, iteration.now.after(Self.pauseCheckInterval)) }
        let isSuspended = sends == 0 || isReceivePaused
        return isSuspended ? min(limit, iteration.now.after(limits.idle)) : limit
    }

    /// The message of the limit that has passed.
    var timeoutMessage: String {
        let now = iteration.now
        if totalLimit <= now { return "the attempt took longer than its total time" }
        if !head.hasBegun, firstByteLimit <= now { return "the first byte of the response did not come in time" }
        if sends == 0, !waitsForOthers, connectLimit <= now { return "no connection was made in time" }
        if drainLimit <= now { return "the body was dropped unread" }
        return "nothing was sent or received for too long"
    }
}
