/// The numbers of the rules that took part in a decision, such as R2 and R15 (see Documentation/Rules.md).
public struct Rules: OptionSet, Hashable, Sendable {
    /// One bit for each rule: bit 1 is R1.
    public let rawValue: UInt64

    /// Makes a set from its bits.
    public init(rawValue: UInt64) { self.rawValue = rawValue }

    /// Makes a set from the numbers of rules; numbers outside 1 … 63 are left out.
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

extension Rules: Codable {
    /// Reads a list of names such as `R2`; what is none is left out.
    public init(from decoder: any Decoder) throws {
        let names = try [String](from: decoder)
        self = names.compactMap { $0.hasPrefix("R") ? Int($0.dropFirst()) : nil }.reduce(into: []) {
            $0.formUnion(Rules($1))
        }
    }

    /// Writes a list of names such as `R2`.
    public func encode(to encoder: any Encoder) throws {
        try names.encode(to: encoder)
    }
}
