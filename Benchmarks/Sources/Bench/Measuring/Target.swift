// SPDX-License-Identifier: Apache-2.0
/// A target: a ratio within one run, or a bound.
struct Target: Sendable {
    let name: String
    let what: String
    let limit: Double
    /// Whether the value may be at most the limit; else at least.
    let isUpperBound: Bool
    /// How many digits after the point are worth showing.
    let digits: Int
    let value: @Sendable (Samples) -> Double?

    static func atMost(
        _ limit: Double,
        _ what: String,
        of name: String,
        digits: Int = 2,
        _ value: @escaping @Sendable (Samples) -> Double?
    ) -> Target {
        Target(name: name, what: what, limit: limit, isUpperBound: true, digits: digits, value: value)
    }

    static func atLeast(
        _ limit: Double,
        _ what: String,
        of name: String,
        digits: Int = 2,
        _ value: @escaping @Sendable (Samples) -> Double?
    ) -> Target {
        Target(name: name, what: what, limit: limit, isUpperBound: false, digits: digits, value: value)
    }

    /// The result; nil if it was not measured.
    func result(_ samples: Samples) -> TargetResult? {
        guard let value = value(samples) else { return nil }
        return TargetResult(
            name: name,
            what: what,
            value: value,
            limit: limit,
            isUpperBound: isUpperBound,
            digits: digits,
            isMet: isUpperBound ? value <= limit : value >= limit
        )
    }
}

/// The result of a target.
struct TargetResult: Codable {
    let name: String
    let what: String
    let value: Double
    let limit: Double
    let isUpperBound: Bool
    let digits: Int
    let isMet: Bool
}
