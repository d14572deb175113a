/// Bytes that can be generated from any offset.
struct Content: Sendable {
    var count: Int
    var bytes: @Sendable (_ offset: Int, _ count: Int) -> [UInt8]

    /// Pseudo-random bytes that depend only on length and seed.
    static func random(count: Int, seed: UInt64) -> Content {
        // The length is part of the seed, so that bodies of different lengths share no prefix.
        let start = SplitMix.mix(seed &+ SplitMix.mix(UInt64(truncatingIfNeeded: count)))
        return Content(count: count) { offset, count in
            guard count > 0 else { return [] }
            let firstWord = offset / 8
            let lastWord = (offset + count - 1) / 8
            let skipped = offset - firstWord * 8
            let words = [UInt64](unsafeUninitializedCapacity: lastWord - firstWord + 1) { buffer, filled in
                var index = 0
                while index <= lastWord - firstWord {
                    let word = UInt64(truncatingIfNeeded: firstWord + index)
                    buffer[index] = SplitMix.mix(start &+ word &* 0x9e37_79b9_7f4a_7c15).littleEndian
                    index &+= 1
                }
                filled = index
            }
            return words.withUnsafeBytes { Array($0[skipped..<(skipped + count)]) }
        }
    }

    /// The given bytes.
    static func fixed(_ all: [UInt8]) -> Content {
        Content(count: all.count) { offset, count in Array(all[offset..<(offset + count)]) }
    }

    var sha256: String {
        var digest = SHA256()
        var offset = 0
        while offset < count {
            let size = min(1 << 20, count - offset)
            bytes(offset, size).withUnsafeBytes { digest.update($0) }
            offset += size
        }
        return Hex.text(of: digest.finish())
    }
}

enum SplitMix {
    /// The output function of SplitMix64 (Steele, Lea, Flood 2014).
    static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z &>> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z &>> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z &>> 31)
    }

    /// A number in 0..<1.
    static func unit(seed: UInt64, index: Int) -> Double {
        let bits = mix(mix(seed) &+ UInt64(truncatingIfNeeded: index) &* 0x9e37_79b9_7f4a_7c15)
        return Double(bits &>> 11) / 9_007_199_254_740_992
    }
}
