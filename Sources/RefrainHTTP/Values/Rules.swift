// SPDX-License-Identifier: Apache-2.0
/// The numbers of the rules that took part in a decision, such as R2 and R15 (see Documentation/Rules.md).
public struct Rules: OptionSet, Hashable, Sendable {
    /// One bit for each rule: bit 1 is R1.
    public let rawValue: UInt64

    /// Makes a set from its bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Makes a set from the numbers of rules; ignores numbers outside 1 … 63.
    public init(_ numbers: Int...) {
        rawValue = numbers.reduce(into: 0) { bits, number in
            if (1...63).contains(number) { bits |= 1 << UInt64(number) }
        }
    }

    /// The numbers in ascending order.
    public var numbers: [Int] { (1...63).filter { rawValue & (1 << UInt64($0)) != 0 } }
    /// The names in ascending order, such as `R2`.
    public var names: [String] { numbers.map { "R\($0)" } }
}

extension Rules: CustomStringConvertible {
    /// The names in ascending order, such as `R2, R15`; empty without any.
    public var description: String { names.joined(separator: ", ") }
}

extension Rules {
    /// R1: safe and idempotent methods may be sent again.
    public static let idempotentMethods = Rules(1)
    /// R2: which other requests may be sent again.
    public static let replaySafety = Rules(2)
    /// R4: a body that cannot be replayed is sent at most once.
    public static let bodyReplay = Rules(4)
    /// R5: idempotency keys.
    public static let idempotencyKey = Rules(5)
    /// R7: transient statuses.
    public static let transientStatus = Rules(7)
    /// R8: transient transport failures.
    public static let transientFailure = Rules(8)
    /// R9: cancellation is never retried.
    public static let cancellation = Rules(9)
    /// R11: a download goes on where it was cut short.
    public static let resumption = Rules(11)
    /// R12: the default schedule.
    public static let schedule = Rules(12)
    /// R15: `Retry-After` is honoured.
    public static let retryAfter = Rules(15)
    /// R16: a date is read against the response's own.
    public static let responseDate = Rules(16)
    /// R17: the longer delay counts.
    public static let longerDelay = Rules(17)
    /// R18: the cap of a server's delay.
    public static let delayCap = Rules(18)
    /// R19: rate-limit fields.
    public static let rateLimit = Rules(19)
    /// R20: deadline and attempt timeout.
    public static let deadline = Rules(20)
    /// R22: the retry budget.
    public static let budget = Rules(22)
    /// R23: what draws on the budget.
    public static let budgetUse = Rules(23)
    /// R24: retries do not multiply.
    public static let nesting = Rules(24)
    /// R26: redirects.
    public static let redirects = Rules(26)
    /// R27: the replay after a token refresh.
    public static let credentialRefresh = Rules(27)
    /// R32: a fleet of processes.
    public static let fleet = Rules(32)
    /// R33: another route after a failed connection.
    public static let freshRoutes = Rules(33)
}

extension Rules: Codable {
    /// Decodes a list of names such as `R2`; ignores strings that are not names of rules.
    public init(from decoder: any Decoder) throws {
        let names = try [String](from: decoder)
        self = names.compactMap { $0.hasPrefix("R") ? Int($0.dropFirst()) : nil }.reduce(into: []) {
            $0.formUnion(Rules($1))
        }
    }

    /// Encodes a list of names such as `R2`.
    public func encode(to encoder: any Encoder) throws {
        try names.encode(to: encoder)
    }
}
