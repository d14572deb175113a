internal import RefrainCore

/// `RateLimit` and `RateLimit-Policy`, in the current and earlier forms of draft-ietf-httpapi-ratelimit-headers.
extension RateLimiter.Fields {
    @_optimize(none)
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
    @_optimize(none)
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
