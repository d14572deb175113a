// SPDX-License-Identifier: Apache-2.0
/// What each call asks for, what it gets, and which of its attempts fail: all by the seed, on both sides alike.
struct SoakPlan: Sendable {
    let seed: UInt64
    /// The share of attempts that fail.
    let rate: Double

    /// What is asked for.
    enum Kind: String, Sendable, CaseIterable {
        case get = "GET"
        case put = "PUT"
        case post = "POST"
        case keyedPost = "POST with a key"
        /// A GET large enough to go on where it was cut.
        case download

        /// Whether it may be sent again after an attempt that the server may have processed.
        var isRepeatable: Bool { self != .post }
    }

    /// What the server does to an attempt.
    enum Fault: Int, Sendable, CaseIterable {
        case unavailable, unavailableWithTime, internalError, reset, resetInHead, cut, resetInBody, cutChunk, garbage
        case delay
    }

    /// The size from which on a download goes on by `Range`.
    static let downloadSize = 300_000

    func kind(_ number: Int) -> Kind {
        switch draw(number, 0) % 100 {
        case 0..<60: .get
        case 60..<75: .put
        case 75..<90: .post
        case 90..<99: .keyedPost
        default: .download
        }
    }

    /// The content that a call gets: lower-case letters, so that it can stand in a list in JSON.
    func content(_ number: Int) -> [UInt8] {
        let size = kind(number) == .download ? Self.downloadSize : 100 + Int(draw(number, 1) % 4000)
        return letters(number, size, salt: 2)
    }

    /// The content that a call sends.
    func requestBody(_ number: Int) -> [UInt8] { letters(number, 20 + Int(draw(number, 3) % 500), salt: 4) }

    /// The fault that an attempt meets, counted from 1 for each call.
    func fault(_ number: Int, attempt: Int) -> Fault? {
        let bits = draw(number, 1000 + UInt64(attempt))
        guard Double(bits >> 11) * 0x1p-53 < rate else { return nil }
        let all = Fault.allCases
        return all[Int(Self.mix(bits) % UInt64(all.count))]
    }

    /// Whether the server refuses an attempt and names a time, so that it has not processed it.
    func isRefused(_ number: Int, attempt: Int) -> Bool { fault(number, attempt: attempt) == .unavailableWithTime }

    /// Where a body is cut: anywhere but at its end.
    func cut(_ number: Int, attempt: Int, of count: Int) -> Int {
        Int(draw(number, 2000 + UInt64(attempt)) % UInt64(max(1, count)))
    }

    private func letters(_ number: Int, _ count: Int, salt: UInt64) -> [UInt8] {
        let start = draw(number, salt)
        return [UInt8](unsafeUninitializedCapacity: count) { buffer, filled in
            var bits: UInt64 = 0
            for index in 0..<count {
                if index & 7 == 0 { bits = Self.mix(start &+ UInt64(index)) }
                buffer[index] = 97 + UInt8(bits & 15)
                bits >>= 8
            }
            filled = count
        }
    }

    private func draw(_ number: Int, _ salt: UInt64) -> UInt64 {
        Self.mix(Self.mix(seed &+ salt &* 0x9e37_79b9_7f4a_7c15) ^ UInt64(number) &* 0xd134_2543_de82_ef95)
    }

    /// The output function of SplitMix64.
    private static func mix(_ value: UInt64) -> UInt64 {
        var z = value
        z = (z ^ (z >> 30)) &* 0xbf58_476d_1ce4_e5b9
        z = (z ^ (z >> 27)) &* 0x94d0_49bb_1331_11eb
        return z ^ (z >> 31)
    }
}
