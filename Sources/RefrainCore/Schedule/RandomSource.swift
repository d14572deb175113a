// SPDX-License-Identifier: Apache-2.0
/// Where jitter comes from: one generator that many callers share.
///
/// Copies share their state, so two calls never draw the same numbers and never wait in lock-step. The numbers are made
/// in user space (xoshiro256**, by Blackman and Vigna), seeded by the system or by hand. They are not fit for secrets.
public struct RandomSource: RandomNumberGenerator, Sendable {
    private let state: Locked<Xoshiro>

    /// The default source of the process, seeded once by the system.
    public static let shared = RandomSource(seed: .random(in: .min ... .max))

    /// A source whose numbers repeat with its seed, for tests and simulations.
    public init(seed: UInt64) {
        state = Locked(Xoshiro(seed: seed))
    }

    /// The next number, uniform over all values.
    public func next() -> UInt64 {
        state.withLock { $0.next() }
    }

    /// A number that is uniform over `0 ..< 1`.
    public func unit() -> Double {
        Double(next() >> 11) * 0x1p-53
    }
}

/// The generator itself: 256 bits of state that a SplitMix64 sequence fills from the seed.
private struct Xoshiro {
    private var a: UInt64
    private var b: UInt64
    private var c: UInt64
    private var d: UInt64

    init(seed: UInt64) {
        var state = seed
        func splitMix() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
        (a, b, c, d) = (splitMix(), splitMix(), splitMix(), splitMix())
    }

    mutating func next() -> UInt64 {
        let scrambled = b &* 5
        let result = ((scrambled << 7) | (scrambled >> 57)) &* 9
        let shifted = b << 17
        c ^= a
        d ^= b
        b ^= c
        a ^= d
        c ^= shifted
        d = (d << 45) | (d >> 19)
        return result
    }
}
