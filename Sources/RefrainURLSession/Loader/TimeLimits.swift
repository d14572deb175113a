internal import RefrainHTTP

/// The limits of one try, as moments (rule R20).
struct TimeLimits {
    private let timeouts: Timeouts
    private let start: ContinuousClock.Instant
    /// When a byte last went in either direction, as far as URLSession tells.
    var lastActivity: ContinuousClock.Instant
    /// Whether the head of the response is there.
    var hasResponse = false
    /// Whether nothing moves because the caller is slow to read.
    var rests = false
    /// What the source of the request's body does, where it is a stream.
    var source = UploadFeed.Source.none
    /// When the rest of a body that nobody reads must have come.
    var drainLimit: ContinuousClock.Instant?

    init(_ timeouts: Timeouts, start: ContinuousClock.Instant) {
        self.timeouts = timeouts
        self.start = start
        lastActivity = start
    }

    /// What has run out at that moment, in words; nil while there is time.
    func whatTookTooLong(at now: ContinuousClock.Instant) -> String? {
        limits.first { $0.moment <= now }?.words
    }

    /// When to look again; nil where there is no limit.
    func nextCheck(after now: ContinuousClock.Instant) -> ContinuousClock.Instant? {
        let next = limits.map(\.moment).min()
        guard isIdleByCaller, let idle = timeouts.idle else { return next }
        let later = now.advanced(by: idle.clampedToDelay)
        return min(next ?? later, later)
    }

    /// Whether the silence is the caller's, who is slow to read or to write, and not the peer's.
    private var isIdleByCaller: Bool { rests || source == .isAwaited }

    private var lastMovement: ContinuousClock.Instant {
        if case .deliveredLast(let moment) = source { return max(moment, lastActivity) }
        return lastActivity
    }

    private var limits: [(moment: ContinuousClock.Instant, words: String)] {
        var limits: [(moment: ContinuousClock.Instant, words: String)] = []
        if let total = timeouts.total {
            limits.append((start.advanced(by: total.clampedToDelay), "the try took longer than its total time"))
        }
        if let firstByte = timeouts.firstByte, !hasResponse {
            let words = "the head of the response did not come in time"
            limits.append((start.advanced(by: firstByte.clampedToDelay), words))
        }
        if let drainLimit { limits.append((drainLimit, "the body was dropped unread")) }
        if let idle = timeouts.idle, !isIdleByCaller {
            let words = "nothing was sent or received for too long"
            limits.append((lastMovement.advanced(by: idle.clampedToDelay), words))
        }
        return limits
    }
}
