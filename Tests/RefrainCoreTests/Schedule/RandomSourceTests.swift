// SPDX-License-Identifier: Apache-2.0
import RefrainCore
import TestSupport
import Testing

@Suite("RandomSource", .computing)
struct RandomSourceTests {
    @Test("the generator is xoshiro256**, seeded by SplitMix64: known numbers")
    func knownNumbers() {
        let source = RandomSource(seed: 0)
        let numbers = (0..<4).map { _ in source.next() }
        #expect(numbers == RandomSourceTests.reference(seed: 0, count: 4))
    }

    @Test("units lie in 0 ..< 1 and are spread evenly")
    func units() {
        let source = RandomSource(seed: 3)
        var buckets = [Int](repeating: 0, count: 16)
        var (sum, squares) = (0.0, 0.0)
        let count = 100_000
        for _ in 0..<count {
            let unit = source.unit()
            guard (0..<1).contains(unit) else {
                Issue.record("\(unit) is out of range")
                return
            }
            buckets[Int(unit * 16)] += 1
            sum += unit
            squares += unit * unit
        }
        let mean = sum / Double(count)
        #expect(abs(mean - 0.5) < 0.005)
        #expect(abs(squares / Double(count) - mean * mean - 1.0 / 12) < 0.002)
        // Chi-square with 15 degrees of freedom: above 37.7 once in a thousand seeds, and this seed is fixed.
        let expected = Double(count) / 16
        let chiSquare = buckets.reduce(0.0) { $0 + (Double($1) - expected) * (Double($1) - expected) / expected }
        #expect(chiSquare < 37.7)
    }

    @Test("each bit is set half of the time")
    func bits() {
        let source = RandomSource(seed: 11)
        var counts = [Int](repeating: 0, count: 64)
        for _ in 0..<10_000 {
            let number = source.next()
            for bit in 0..<64 where number & (1 << UInt64(bit)) != 0 { counts[bit] += 1 }
        }
        #expect(counts.allSatisfy { (4750...5250).contains($0) })
    }

    @Test("neighbouring seeds give unrelated numbers")
    func neighbouringSeeds() {
        let first = Set((0..<1000).map { RandomSource(seed: $0).next() })
        #expect(first.count == 1000)
    }

    @Test("many tasks that share one source never draw the same number")
    func sharedByTasks() async {
        let source = RandomSource(seed: 5)
        let sample = await withTaskGroup(of: [UInt64].self) { group in
            for _ in 0..<8 { group.addTask { (0..<2000).map { _ in source.next() } } }
            return await group.reduce(into: Set<UInt64>()) { $0.formUnion($1) }
        }
        #expect(sample.count == 16_000)
    }

    /// The published algorithm, written down a second time.
    private static func reference(seed: UInt64, count: Int) -> [UInt64] {
        var mixer = seed
        var state: [UInt64] = (0..<4).map { _ in
            mixer &+= 0x9E37_79B9_7F4A_7C15
            var z = mixer
            z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
            z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
            return z ^ (z >> 31)
        }
        func rotated(_ x: UInt64, _ k: UInt64) -> UInt64 { (x << k) | (x >> (64 - k)) }
        return (0..<count).map { _ in
            let result = rotated(state[1] &* 5, 7) &* 9
            let t = state[1] << 17
            state[2] ^= state[0]
            state[3] ^= state[1]
            state[1] ^= state[2]
            state[0] ^= state[3]
            state[2] ^= t
            state[3] = rotated(state[3], 45)
            return result
        }
    }
}
