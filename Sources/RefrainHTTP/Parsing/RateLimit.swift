internal import RefrainCore

/// One limit that a server puts on its clients, as a response describes it.
public struct RateLimit: Hashable, Sendable {
    /// The name of its policy, where the fields have names.
    public var name: String?
    /// How much of the quota is left, in the server's units; `nil` if the response does not say.
    public var remaining: Int64?
    /// How long after the response the quota comes back; `nil` if the response does not say.
    public var reset: Duration?
    /// The quota, in the server's units.
    public var quota: Int64?
    /// The time for which the quota is given.
    public var window: Duration?

    /// Makes a limit.
    public init(
        name: String? = nil,
        remaining: Int64? = nil,
        reset: Duration? = nil,
        quota: Int64? = nil,
        window: Duration? = nil
    ) {
        self.name = name
        self.remaining = remaining
        self.reset = reset
        self.quota = quota
        self.window = window
    }

    /// How long to wait before another try of a request that this limit may have refused.
    ///
    /// That is the reset of a quota which is used up, or of which nobody knows how much is left. It is `nil` where
    /// some is left, because then it was something else that refused. `Retry-After` wins over it (R19).
    public var retryDelay: Duration? {
        (remaining ?? 0) == 0 ? reset : nil
    }

    /// How long to hold the next request back, so that the server need not refuse it (R19, pacing).
    ///
    /// A limit without a known remainder or a known reset holds nothing back.
    ///
    /// - Parameters:
    ///   - sent: The requests that have been sent since the response, each of which takes one unit.
    ///   - elapsed: The monotonic time since the response.
    public func holdBack(sent: Int = 0, elapsed: Duration = .zero) -> Duration {
        guard let remaining, let reset, remaining <= Int64(max(sent, 0)) else { return .zero }
        let since = elapsed.clampedToDelay
        return since < reset ? (reset - since).clampedToDelay : .zero
    }
}

extension RateLimit {
    /// The limit that binds first (R19); `nil` of none.
    ///
    /// Those that are used up go first, and of these the one that comes back last, because until then all of them
    /// refuse. Next come limits of which only the reset is known, the latest first. Of limits with something left, the
    /// one with the least is met first; of equals, the one that comes back last.
    public static func binding(of limits: [RateLimit]) -> RateLimit? {
        limits.max { $0.bindsLater(than: $1) }
    }

    private func bindsLater(than other: RateLimit) -> Bool {
        guard urgency == other.urgency else { return urgency < other.urgency }
        if let remaining, let theirs = other.remaining, remaining != theirs { return remaining > theirs }
        return (reset ?? .zero) < (other.reset ?? .zero)
    }

    private var urgency: Int {
        switch remaining {
        case 0: 2
        case nil: 1
        default: 0
        }
    }
}
