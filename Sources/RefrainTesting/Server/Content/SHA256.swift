// SPDX-License-Identifier: Apache-2.0
/// SHA-256 (FIPS 180-4), for digests of bodies in tests; not for secrets.
///
/// Swift's toolchain on Linux has no digest. The loops use raw pointers, because this code runs in debug builds, where
/// calls of generic and small functions are expensive.
package struct SHA256 {
    /// The digest of no bytes, in hexadecimal.
    package static let ofNothing = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"

    private var state: [UInt32] = [
        0x6a09_e667, 0xbb67_ae85, 0x3c6e_f372, 0xa54f_f53a, 0x510e_527f, 0x9b05_688c, 0x1f83_d9ab, 0x5be0_cd19,
    ]
    private var pending: [UInt8] = []
    private var length: UInt64 = 0

    /// Starts a digest.
    package init() {}

    /// The digest of `bytes`, in hexadecimal.
    package static func hex(of bytes: [UInt8]) -> String {
        var digest = SHA256()
        bytes.withUnsafeBytes { digest.update($0) }
        return Hex.text(of: digest.finish())
    }

    /// Adds bytes to the digest.
    package mutating func update(_ bytes: UnsafeRawBufferPointer) {
        length &+= UInt64(bytes.count)
        var offset = 0
        if !pending.isEmpty {
            offset = min(64 - pending.count, bytes.count)
            pending.append(contentsOf: bytes.prefix(offset))
            guard pending.count == 64 else { return }
            pending.withUnsafeBytes { compress($0, from: 0, blocks: 1) }
            pending.removeAll(keepingCapacity: true)
        }
        let blocks = (bytes.count - offset) / 64
        if blocks > 0 { compress(bytes, from: offset, blocks: blocks) }
        pending.append(contentsOf: bytes.dropFirst(offset + blocks * 64))
    }

    /// Finishes the digest and returns its 32 bytes.
    package mutating func finish() -> [UInt8] {
        let bits = length &* 8
        var padding: [UInt8] = [0x80]
        padding += [UInt8](repeating: 0, count: (119 - pending.count % 64) % 64)
        for shift in stride(from: UInt64(56), through: 0, by: -8) {
            padding.append(UInt8(truncatingIfNeeded: bits >> shift))
        }
        padding.withUnsafeBytes { update($0) }
        return state.flatMap { word in
            [24, 16, 8, 0].map { UInt8(truncatingIfNeeded: word >> $0) }
        }
    }

    private mutating func compress(_ bytes: UnsafeRawBufferPointer, from offset: Int, blocks: Int) {
        guard let base = bytes.baseAddress else { return }
        state.withUnsafeMutableBufferPointer { state in
            Self.constants.withUnsafeBufferPointer { constants in
                withUnsafeTemporaryAllocation(of: UInt32.self, capacity: 64) { schedule in
                    guard let h = state.baseAddress, let k = constants.baseAddress, let w = schedule.baseAddress else {
                        return
                    }
                    Self.run(base + offset, blocks, h, k, w)
                }
            }
        }
    }

    private static func run(
        _ input: UnsafeRawPointer,
        _ blocks: Int,
        _ h: UnsafeMutablePointer<UInt32>,
        _ k: UnsafePointer<UInt32>,
        _ w: UnsafeMutablePointer<UInt32>
    ) {
        var block = 0
        while block < blocks {
            let source = input + block &* 64
            var i = 0
            while i < 16 {
                w[i] = source.loadUnaligned(fromByteOffset: i &* 4, as: UInt32.self).bigEndian
                i &+= 1
            }
            while i < 64 {
                let x = w[i &- 15]
                let y = w[i &- 2]
                let s0 = (x &>> 7 | x &<< 25) ^ (x &>> 18 | x &<< 14) ^ x &>> 3
                let s1 = (y &>> 17 | y &<< 15) ^ (y &>> 19 | y &<< 13) ^ y &>> 10
                w[i] = w[i &- 16] &+ s0 &+ w[i &- 7] &+ s1
                i &+= 1
            }
            var (a, b, c, d) = (h[0], h[1], h[2], h[3])
            var (e, f, g, j) = (h[4], h[5], h[6], h[7])
            i = 0
            while i < 64 {
                let s1 = (e &>> 6 | e &<< 26) ^ (e &>> 11 | e &<< 21) ^ (e &>> 25 | e &<< 7)
                let t1 = j &+ s1 &+ ((e & f) ^ (~e & g)) &+ k[i] &+ w[i]
                let s0 = (a &>> 2 | a &<< 30) ^ (a &>> 13 | a &<< 19) ^ (a &>> 22 | a &<< 10)
                let t2 = s0 &+ ((a & b) ^ (a & c) ^ (b & c))
                j = g
                g = f
                f = e
                e = d &+ t1
                d = c
                c = b
                b = a
                a = t1 &+ t2
                i &+= 1
            }
            h[0] = h[0] &+ a
            h[1] = h[1] &+ b
            h[2] = h[2] &+ c
            h[3] = h[3] &+ d
            h[4] = h[4] &+ e
            h[5] = h[5] &+ f
            h[6] = h[6] &+ g
            h[7] = h[7] &+ j
            block &+= 1
        }
    }

    private static let constants: [UInt32] = [
        0x428a_2f98, 0x7137_4491, 0xb5c0_fbcf, 0xe9b5_dba5, 0x3956_c25b, 0x59f1_11f1, 0x923f_82a4, 0xab1c_5ed5,
        0xd807_aa98, 0x1283_5b01, 0x2431_85be, 0x550c_7dc3, 0x72be_5d74, 0x80de_b1fe, 0x9bdc_06a7, 0xc19b_f174,
        0xe49b_69c1, 0xefbe_4786, 0x0fc1_9dc6, 0x240c_a1cc, 0x2de9_2c6f, 0x4a74_84aa, 0x5cb0_a9dc, 0x76f9_88da,
        0x983e_5152, 0xa831_c66d, 0xb003_27c8, 0xbf59_7fc7, 0xc6e0_0bf3, 0xd5a7_9147, 0x06ca_6351, 0x1429_2967,
        0x27b7_0a85, 0x2e1b_2138, 0x4d2c_6dfc, 0x5338_0d13, 0x650a_7354, 0x766a_0abb, 0x81c2_c92e, 0x9272_2c85,
        0xa2bf_e8a1, 0xa81a_664b, 0xc24b_8b70, 0xc76c_51a3, 0xd192_e819, 0xd699_0624, 0xf40e_3585, 0x106a_a070,
        0x19a4_c116, 0x1e37_6c08, 0x2748_774c, 0x34b0_bcb5, 0x391c_0cb3, 0x4ed8_aa4a, 0x5b9c_ca4f, 0x682e_6ff3,
        0x748f_82ee, 0x78a5_636f, 0x84c8_7814, 0x8cc7_0208, 0x90be_fffa, 0xa450_6ceb, 0xbef9_a3f7, 0xc671_78f2,
    ]
}
