package import RefrainCore

extension RateLimiter {
    /// Parses rate limit fields.
    ///
    /// Supports `RateLimit` and `RateLimit-Policy` of the IETF draft (structured, `"default";r=50;t=30`), its earlier
    /// forms (`limit=100, remaining=50, reset=50`, and `RateLimit-Limit`, `-Remaining`, `-Reset`), `X-RateLimit-Limit`,
    /// `-Remaining`, `-Reset`, and `X-Rate-Limit-Limit`, `-Remaining`, `-Reset`. Uses all fields that are well-formed
    /// and ignores malformed ones.
    public struct Fields: Hashable, Sendable {
        /// The unit of a reset.
        public enum Unit: Hashable, Sendable {
            /// Seconds, with an optional fraction.
            case seconds
            /// Milliseconds.
            case milliseconds
        }

        /// The meaning of the number in a reset field.
        public enum Reset: Hashable, Sendable {
            /// Above 10¹² a Unix time in milliseconds, above 10⁹ a Unix time in seconds, otherwise a delay in seconds.
            case automatic
            /// The time from the response to the reset.
            case delay(Unit)
            /// The time from 1970-01-01T00:00:00Z to the reset.
            case epoch(Unit)
        }

        /// How the plain fields are interpreted.
        ///
        /// Defaults to ``Reset/automatic``.
        public var reset: Reset

        /// How `t` in the structured `RateLimit` is interpreted.
        ///
        /// Defaults to ``Reset/automatic``.
        ///
        /// The draft defines it as seconds from the response. It is separate from ``reset`` because a server may send
        /// both kinds of field.
        public var structuredReset: Reset

        /// Makes a parser.
        public init(reset: Reset = .automatic, structuredReset: Reset = .automatic) {
            self.reset = reset
            self.structuredReset = structuredReset
        }

        /// All limits in a response, in the order of the list above; none if the response comes from a cache.
        ///
        /// The limits of a response with an `Age` are outdated. Unix times are compared with the response's `Date`,
        /// which comes from the same clock, or with the wall clock if `Date` is missing or invalid. `Date` has a
        /// resolution of one second: a Unix time with a fraction is compared with the wall clock if that is within the
        /// second of `Date`.
        ///
        /// - Parameters:
        ///   - values: returns the values of a field, one per line, by its name in lower case.
        ///   - wallClock: the wall clock's time at which the response was received.
        @_optimize(none)
        package func limits(wallClock: WallClock.Instant, values: (String) -> [String]) -> [RateLimit] {
            guard values("age").isEmpty else { return [] }
            let now = ResponseTime(date: values("date"), age: [], wallClock: wallClock)
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

        /// The most restrictive limit of a response, or `nil` if it has none; see ``RateLimit/binding(of:)``.
        package func binding(wallClock: WallClock.Instant, values: (String) -> [String]) -> RateLimit? {
            RateLimit.binding(of: limits(wallClock: wallClock, values: values))
        }
    }
}

extension RateLimiter.Fields.Reset {
    /// The time from now to the reset; zero if the reset has passed.
    func delay(_ number: FieldDecimal, now: ResponseTime) -> Duration {
        switch self {
        case .delay(.seconds): number.asSeconds.clampedToDelay
        case .delay(.milliseconds): number.asMilliseconds.clampedToDelay
        case .epoch(.seconds): now.delay(until: number.asSeconds)
        case .epoch(.milliseconds): now.delay(until: number.asMilliseconds)
        case .automatic: automatic(number).delay(number, now: now)
        }
    }

    private func automatic(_ number: FieldDecimal) -> Self {
        if number.isGreater(than: 1_000_000_000_000) { return .epoch(.milliseconds) }
        return number.isGreater(than: 1_000_000_000) ? .epoch(.seconds) : .delay(.seconds)
    }
}
