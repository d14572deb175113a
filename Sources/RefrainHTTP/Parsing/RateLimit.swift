internal import RefrainCore

/// A rate limit that a response describes.
package struct RateLimit: Hashable, Sendable {
    /// The name of its policy, if the field has names.
    package var name: String?
    /// The remaining quota, in the server's units; `nil` if the response does not contain it.
    package var remaining: Int64?
    /// The time from the response to the reset of the quota; `nil` if the response does not contain it.
    package var reset: Duration?
    /// The quota, in the server's units.
    package var quota: Int64?
    /// The time window of the quota.
    package var window: Duration?
    /// What is limited.
    package var kind = RateLimiter.Fields.Family.Kind.requests
    /// Whether the reset is the time until the quota is full again, and not the end of a window.
    package var refills = false

    /// Makes a limit.
    package init(
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

    /// The delay before a retry of a request that this limit may have refused.
    ///
    /// This is the time to the reset, if the remaining quota is zero or unknown; otherwise `nil`, because the limit was
    /// not the reason of the refusal. `Retry-After` takes precedence.
    package var retryDelay: Duration? {
        (remaining ?? 0) == 0 ? wait : nil
    }

    /// The time until the next request fits, as far as the limit tells.
    ///
    /// A quota that refills all the time has room for one request long before it is full. How much of a second unit
    /// the request takes is not known here: a tenth of the quota is assumed, but a reset of up to 10 s is waited for.
    private var wait: Duration? {
        guard refills, let reset else { return reset }
        if kind == .cost { return max(reset / 10, min(reset, .seconds(10))) }
        guard let quota, let remaining, quota > remaining else { return reset }
        return (reset / Double(quota - remaining)).clampedToDelay
    }

    /// The delay before the next request that keeps within the limit.
    ///
    /// Zero for a limit whose remaining quota or reset is unknown.
    ///
    /// - Parameters:
    ///   - sent: the number of requests sent since the response, each of which takes one unit.
    ///   - elapsed: the monotonic time since the response.
    package func holdBack(sent: Int = 0, elapsed: Duration = .zero) -> Duration {
        guard let remaining, let reset, remaining <= Int64(max(sent, 0)) else { return .zero }
        let since = elapsed.clampedToDelay
        return since < reset ? (reset - since).clampedToDelay : .zero
    }
}

extension RateLimit {
    /// The most restrictive of several limits; `nil` of none.
    ///
    /// Exhausted limits come first, the latest reset first, because until then requests are refused. Then limits of
    /// which only the reset is known, the latest first; then the limit with the smallest remaining quota, and of equal
    /// ones that with the latest reset.
    package static func binding(of limits: [RateLimit]) -> RateLimit? {
        limits.max { $0.bindsLater(than: $1) }
    }

    private func bindsLater(than other: RateLimit) -> Bool {
        guard urgency == other.urgency else { return urgency < other.urgency }
        if let remaining, let theirs = other.remaining, remaining != theirs { return remaining > theirs }
        return (wait ?? .zero) < (other.wait ?? .zero)
    }

    private var urgency: Int {
        switch remaining {
        case 0: 2
        case nil: 1
        default: 0
        }
    }
}
