// SPDX-License-Identifier: Apache-2.0
/// The simulation's own random numbers: the same on every machine, for the same seed.
struct Chance {
    private var state: UInt64

    init(seed: UInt64) { state = seed }

    /// A seed for a part of the simulation that draws numbers of its own.
    static func seed(_ seed: UInt64, part: UInt64) -> UInt64 {
        var chance = Chance(seed: seed ^ (part &* 0xD1B5_4A32_D192_ED03))
        return chance.next()
    }

    /// The next number, uniform over all values (SplitMix64).
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var mixed = state
        mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
        mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
        return mixed ^ (mixed >> 31)
    }

    /// A number that is uniform over `0 ..< 1`.
    mutating func unit() -> Double { Double(next() >> 11) * 0x1p-53 }

    /// A whole number that is uniform over `0 ..< count`.
    mutating func index(below count: Int) -> Int { Int(next().multipliedFullWidth(by: UInt64(count)).high) }

    /// A number that is exponentially distributed around a mean.
    mutating func exponential(mean: Double) -> Double { -Self.naturalLogarithm(1 - unit()) * mean }

    /// The natural logarithm of a positive number, by arithmetic alone.
    ///
    /// The C library's differs in the last bit between systems, and a simulation must not.
    private static func naturalLogarithm(_ value: Double) -> Double {
        // value = significand · 2^exponent with a significand near 1; then ln s = 2 artanh((s − 1) / (s + 1)).
        var exponent = Double(value.exponent)
        var significand = value.significand
        if significand > 1.414_213_562_373_095 {
            significand /= 2
            exponent += 1
        }
        let ratio = (significand - 1) / (significand + 1)
        let square = ratio * ratio
        var (term, sum) = (ratio, 0.0)
        for odd in stride(from: 1.0, through: 25, by: 2) {
            sum += term / odd
            term *= square
        }
        return exponent * 0.693_147_180_559_945_3 + 2 * sum
    }
}
