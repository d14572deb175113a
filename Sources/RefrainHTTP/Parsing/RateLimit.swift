// SPDX-License-Identifier: Apache-2.0
package import RefrainCore

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
    package var kind = RateLimitFields.Family.Kind.requests
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

/// Parses rate limit fields.
///
/// Supports `RateLimit` and `RateLimit-Policy` of the IETF draft (structured, `"default";r=50;t=30`), its earlier
/// forms (`limit=100, remaining=50, reset=50`, and `RateLimit-Limit`, `-Remaining`, `-Reset`), `X-RateLimit-Limit`,
/// `-Remaining`, `-Reset`, and `X-Rate-Limit-Limit`, `-Remaining`, `-Reset`. Uses all fields that are well-formed
/// and ignores malformed ones.
public struct RateLimitFields: Hashable, Sendable {
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
        /// The time from the response to the reset as Go writes a duration, such as `6m0s` or `12ms`.
        ///
        /// A number without a unit is ``automatic``.
        case goDuration
        /// The moment of the reset by RFC 3339, such as `2026-11-25T12:40:59.5+01:00`.
        case timestamp
    }

    /// The fields of one limit that have names of their own.
    public struct Family: Hashable, Sendable {
        /// What is limited.
        public enum Kind: String, Hashable, Sendable, Codable {
            /// The number of requests.
            case requests
            /// A second unit, such as tokens, of which requests take different amounts.
            case cost
        }

        /// What is limited.
        public var kind: Kind
        /// The name of the field with the limit.
        public var limit: String
        /// The name of the field with the remaining quota.
        public var remaining: String
        /// The name of the field with the reset.
        public var reset: String
        /// How the reset is written.
        public var unit: Reset
        /// Whether the reset is the time until the limit is full again, instead of the end of a window.
        ///
        /// The limit is then a bucket that refills all the time.
        public var refills: Bool

        /// Describes the fields of one limit by their names, in any case.
        public init(
            _ kind: Kind,
            limit: String,
            remaining: String,
            reset: String,
            unit: Reset,
            refills: Bool = true
        ) {
            self.kind = kind
            self.limit = limit.lowercased()
            self.remaining = remaining.lowercased()
            self.reset = reset.lowercased()
            self.unit = unit
            self.refills = refills
        }
    }

    /// Further fields, which are read besides the standard ones.
    ///
    /// Defaults to none.
    public var families: [Family] = []

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
        return limits + families.compactMap { family($0, values: values, now: now) }
    }

    /// The most restrictive limit of a response, or `nil` if it has none; see ``RateLimit/binding(of:)``.
    package func binding(wallClock: WallClock.Instant, values: (String) -> [String]) -> RateLimit? {
        RateLimit.binding(of: limits(wallClock: wallClock, values: values))
    }
}

extension RateLimitFields.Reset {
    /// The time from now to the reset; zero if the reset has passed.
    func delay(_ number: FieldDecimal, now: ResponseTime) -> Duration {
        switch self {
        case .delay(.seconds): number.asSeconds.clampedToDelay
        case .delay(.milliseconds): number.asMilliseconds.clampedToDelay
        case .epoch(.seconds): now.delay(until: number.asSeconds)
        case .epoch(.milliseconds): now.delay(until: number.asMilliseconds)
        case .automatic: automatic(number).delay(number, now: now)
        // Not written as a number.
        case .goDuration, .timestamp: .zero
        }
    }

    /// The time from now to the reset; nil for a text that is malformed.
    func delay(_ text: String, now: ResponseTime) -> Duration? {
        switch self {
        case .goDuration: FieldTime.goDuration(text) ?? Self.automatic.delay(text, now: now)
        case .timestamp: FieldTime.timestamp(text).map { now.delay(until: $0.sinceEpoch) }
        default: FieldDecimal(FieldValues.trimmed(text[...].utf8)).map { delay($0, now: now) }
        }
    }

    private func automatic(_ number: FieldDecimal) -> Self {
        if number.isGreater(than: 1_000_000_000_000) { return .epoch(.milliseconds) }
        return number.isGreater(than: 1_000_000_000) ? .epoch(.seconds) : .delay(.seconds)
    }
}

extension RateLimitFields {
    /// The limit of one family; nil where its fields are missing, malformed or say nothing.
    private func family(_ family: Family, values: (String) -> [String], now: ResponseTime) -> RateLimit? {
        func number(_ name: String) -> Int64? {
            FieldValues.single(values(name)).flatMap { FieldDecimal(FieldValues.trimmed($0[...].utf8))?.whole }
        }
        guard let remaining = number(family.remaining) else { return nil }
        var limit = RateLimit(name: family.remaining, remaining: remaining, quota: number(family.limit))
        limit.reset = FieldValues.single(values(family.reset)).flatMap { family.unit.delay($0, now: now) }
        // A limit that is used up is not full now: a reset of zero says nothing, as from Azure.
        if remaining == 0, limit.reset == .zero { limit.reset = nil }
        (limit.kind, limit.refills) = (family.kind, family.refills)
        return limit
    }
}

/// `RateLimit` and `RateLimit-Policy`, in the current and earlier forms of draft-ietf-httpapi-ratelimit-headers.
extension RateLimitFields {
    func structured(_ lines: [String], policies: [String], now: ResponseTime) -> [RateLimit] {
        guard !lines.isEmpty else { return [] }
        if let members = StructuredField.list(fieldValues: lines) {
            return limits(members, policies: self.policies(policies), now: now)
        }
        return StructuredField.dictionary(fieldValues: lines).flatMap { limit($0, now: now) }.map { [$0] } ?? []
    }

    /// The current form: a list of policy names with `r`, the remaining quota, and `t`, the seconds to the reset.
    private func limits(
        _ members: [StructuredField.Member],
        policies: [String: RateLimit],
        now: ResponseTime
    ) -> [RateLimit] {
        members.compactMap { member in
            guard case .item(let item) = member, let name = name(item.value) else { return nil }
            guard let remaining = item.parameters["r"].flatMap(FieldDecimal.init) else { return nil }
            var reset: FieldDecimal?
            if let time = item.parameters["t"] {
                guard let number = FieldDecimal(time) else { return nil }
                reset = number
            }
            var limit = policies[name] ?? RateLimit(name: name)
            limit.remaining = remaining.whole
            limit.reset = reset.map { structuredReset.delay($0, now: now) }
            return limit
        }
    }

    /// The policies by name: `q` is the quota, `w` the window in seconds.
    private func policies(_ lines: [String]) -> [String: RateLimit] {
        var result: [String: RateLimit] = [:]
        for case .item(let item) in StructuredField.list(fieldValues: lines) ?? [] {
            guard let name = name(item.value) else { continue }
            let quota = item.parameters["q"].flatMap(FieldDecimal.init)
            let window = item.parameters["w"].flatMap(FieldDecimal.init)
            result[name] = RateLimit(name: name, quota: quota?.whole, window: window?.asSeconds.clampedToDelay)
        }
        return result
    }

    /// The form of an earlier draft: one limit, as a dictionary.
    private func limit(_ members: StructuredField.Dictionary, now: ResponseTime) -> RateLimit? {
        func number(_ key: String) -> FieldDecimal? {
            guard case .item(let item)? = members[key] else { return nil }
            return FieldDecimal(item.value)
        }
        guard let remaining = number("remaining") else { return nil }
        return RateLimit(
            remaining: remaining.whole,
            reset: number("reset").map { reset.delay($0, now: now) },
            quota: number("limit")?.whole
        )
    }

    /// The name of a policy: a string, or a token in earlier drafts.
    private func name(_ value: StructuredField.BareItem) -> String? {
        switch value {
        case .string(let name), .token(let name): name
        default: nil
        }
    }
}

/// The fields with one number each: `-Remaining`, `-Reset` and `-Limit`, with any prefix.
extension RateLimitFields {
    /// The limits of one family of fields.
    ///
    /// If values are repeated, the first remaining quota belongs to the first reset, and so on. If their counts differ,
    /// all values of a field must be equal; otherwise the fields contradict each other and are ignored.
    func plain(remaining: [String], reset: [String], quota: [String], now: ResponseTime) -> [RateLimit] {
        var remaining = numbers(remaining)
        var resets = numbers(reset)
        let quotas = numbers(quota)
        if remaining.count != resets.count {
            guard let one = same(remaining), let other = same(resets) else { return [] }
            (remaining, resets) = (one, other)
        }
        let count = max(remaining.count, resets.count)
        return (0..<count).map { index in
            RateLimit(
                remaining: index < remaining.count ? remaining[index].whole : nil,
                reset: index < resets.count ? self.reset.delay(resets[index], now: now) : nil,
                quota: quotas.count == count ? quotas[index].whole : quotas.first?.whole
            )
        }
    }

    /// The numbers in a field's lines; empty if one is malformed.
    ///
    /// Text after a semicolon, as in `10;w=60`, is ignored.
    private func numbers(_ lines: [String]) -> [FieldDecimal] {
        var numbers: [FieldDecimal] = []
        for element in FieldValues.elements(lines) {
            guard let number = FieldDecimal(FieldValues.trimmed(element.prefix { $0 != .semicolon })) else { return [] }
            numbers.append(number)
        }
        return numbers
    }

    /// One number for several equal ones, none for none; `nil` for different numbers.
    private func same(_ numbers: [FieldDecimal]) -> [FieldDecimal]? {
        numbers.allSatisfy { $0 == numbers.first } ? Array(numbers.prefix(1)) : nil
    }
}
