public import RefrainCore

/// How the rate limit fields of a server are read (R19).
///
/// These are known: `RateLimit` and `RateLimit-Policy` of the IETF draft (structured, `"default";r=50;t=30`), its older
/// forms (`limit=100, remaining=50, reset=50`, and `RateLimit-Limit`, `-Remaining`, `-Reset`), `X-RateLimit-Limit`,
/// `-Remaining`, `-Reset`, and `X-Rate-Limit-Limit`, `-Remaining`, `-Reset`. All that are well-formed count; what is
/// malformed is ignored.
public struct RateLimitFields: Hashable, Sendable {
    /// The unit of a reset.
    public enum Unit: Hashable, Sendable {
        /// Seconds, which may have decimal places.
        case seconds
        /// Thousandths of a second.
        case milliseconds
    }

    /// What the number in a reset field means.
    public enum Reset: Hashable, Sendable {
        /// Over 10¹² an epoch in milliseconds, over 10⁹ an epoch in seconds, else a delay in seconds.
        case automatic
        /// The time from the response to the reset.
        case delay(Unit)
        /// The time from 1970-01-01T00:00:00Z to the reset.
        case epoch(Unit)
    }

    /// How the plain fields are read; ``Reset/automatic`` by default.
    public var reset: Reset

    /// How `t` in the structured `RateLimit` is read; ``Reset/automatic`` by default.
    ///
    /// The draft says seconds from the response, so this is apart from ``reset``: a server may send both kinds of
    /// field.
    public var structuredReset: Reset

    /// Makes a reading.
    public init(reset: Reset = .automatic, structuredReset: Reset = .automatic) {
        self.reset = reset
        self.structuredReset = structuredReset
    }

    /// All limits that a response states, in the order of the list above; none if the response was stored.
    ///
    /// A response with an `Age` comes from a cache, so its limits are those of another time. Epochs are read against
    /// the response's own `Date` where it has a good one, because both come from one clock; else against the wall
    /// clock.
    ///
    /// - Parameters:
    ///   - values: Gives the values of a field, one for each line, by its name in lower case.
    ///   - wallClock: The wall clock's time at which the response came in.
    public func limits(wallClock: WallInstant, values: (String) -> [String]) -> [RateLimit] {
        guard values("age").isEmpty else { return [] }
        let now = ResponseTime(date: values("date"), age: [], wallClock: wallClock).instant
        var limits = structured(values("ratelimit"), policies: values("ratelimit-policy"), now: now)
        for prefix in ["ratelimit", "x-ratelimit", "x-rate-limit"] {
            limits += plain(
                remaining: values(prefix + "-remaining"),
                reset: values(prefix + "-reset"),
                quota: values(prefix + "-limit"),
                now: now
            )
        }
        return limits
    }

    /// The limit of a response that binds first, or `nil` if it states none; see ``RateLimit/binding(of:)``.
    public func binding(wallClock: WallInstant, values: (String) -> [String]) -> RateLimit? {
        RateLimit.binding(of: limits(wallClock: wallClock, values: values))
    }
}

extension RateLimitFields.Reset {
    /// The time from now to the reset; zero if that is past.
    func delay(_ number: FieldDecimal, now: WallInstant) -> Duration {
        switch self {
        case .delay(.seconds): number.asSeconds.clampedToDelay
        case .delay(.milliseconds): number.asMilliseconds.clampedToDelay
        case .epoch(.seconds): now.duration(to: WallInstant(sinceEpoch: number.asSeconds)).clampedToDelay
        case .epoch(.milliseconds): now.duration(to: WallInstant(sinceEpoch: number.asMilliseconds)).clampedToDelay
        case .automatic: automatic(number).delay(number, now: now)
        }
    }

    private func automatic(_ number: FieldDecimal) -> Self {
        if number.isGreater(than: 1_000_000_000_000) { return .epoch(.milliseconds) }
        return number.isGreater(than: 1_000_000_000) ? .epoch(.seconds) : .delay(.seconds)
    }
}
