// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

/// The limits of one attempt, as instants.
struct AttemptTimeouts {
    private let timeouts: Timeout.Limits
    private let start: ContinuousClock.Instant
    /// The last time a byte was transferred in either direction, as far as URLSession reports it.
    var lastActivity: ContinuousClock.Instant
    /// Whether the head of the response was received.
    var hasResponse = false
    /// Whether the transfer is suspended because the reader is slow.
    var rests = false
    /// The state of the request's body source, if it is a stream.
    var source = UploadStreamWriter.Source.none
    /// The deadline for the rest of a body that is not read.
    var drainLimit: ContinuousClock.Instant?

    init(_ timeouts: Timeout.Limits, start: ContinuousClock.Instant) {
        self.timeouts = timeouts
        self.start = start
        lastActivity = start
    }

    /// The limit that has passed, as a message; nil if none has.
    func timeoutMessage(at now: ContinuousClock.Instant) -> String? {
        limits.first { $0.moment <= now }?.words
    }

    /// The time of the next check; nil without limits.
    func nextCheck(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let next = limits.map(\.moment).min()
        guard isIdleByCaller, let idle = timeouts.silence else { return next }
        let later = now.advanced(by: idle.clampedToDelay)
        return min(next ?? later, later)
    }

    /// Whether the inactivity is caused by the caller's reader or body source rather than the peer.
    private var isIdleByCaller: Bool { rests || source == .isAwaited }

    private var lastMovement: ContinuousClock.Instant {
        if case .deliveredLast(let moment) = source { return max(moment, lastActivity) }
        return lastActivity
    }

    private var limits: [(moment: ContinuousClock.Instant, words: String)] {
        var limits: [(moment: ContinuousClock.Instant, words: String)] = []
        if let total = timeouts.total {
            limits.append((start.advanced(by: total.clampedToDelay), "the attempt took longer than its total time"))
        }
        if let firstByte = timeouts.firstByte, !hasResponse {
            let words = "the head of the response did not come in time"
            limits.append((start.advanced(by: firstByte.clampedToDelay), words))
        }
        if let drainLimit { limits.append((drainLimit, "the body was dropped unread")) }
        if let idle = timeouts.silence, !isIdleByCaller {
            let words = "nothing was sent or received for too long"
            limits.append((lastMovement.advanced(by: idle.clampedToDelay), words))
        }
        return limits
    }
}
