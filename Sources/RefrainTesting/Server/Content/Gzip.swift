// SPDX-License-Identifier: Apache-2.0
/// Writes gzip files (RFC 1952, RFC 1951) without zlib.
enum Gzip {
    static let header: [UInt8] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]

    /// The bytes in stored blocks, uncompressed.
    static func stored(_ bytes: [UInt8]) -> [UInt8] {
        var file = header
        var offset = 0
        repeat {
            let size = min(65_535, bytes.count - offset)
            file.append(offset + size == bytes.count ? 1 : 0)
            file += littleEndian(UInt32(size)).prefix(2)
            file += littleEndian(~UInt32(size)).prefix(2)
            file += bytes[offset..<(offset + size)]
            offset += size
        } while offset < bytes.count
        return file + littleEndian(CRC32.of(bytes)) + littleEndian(UInt32(truncatingIfNeeded: bytes.count))
    }

    /// A file that expands to `count` zero bytes at about 1:1000.
    ///
    /// It is one block with dynamic codes (RFC 1951 §3.2.7) of three symbols: 285 (copy 258 bytes) with one bit, the
    /// byte 0 and the end of the block with two bits each; and one distance (1) with one bit. A copy takes two zero
    /// bits.
    static func zeros(count: Int) -> Content {
        let copies = max(0, count - 1) / 258
        var bits = BitWriter()
        bits.write(1, bits: 1)  // last block
        bits.write(2, bits: 2)  // dynamic codes
        bits.write(29, bits: 5)  // 286 literal and length codes
        bits.write(0, bits: 5)  // 1 distance code
        bits.write(14, bits: 4)  // 18 lengths of the code for lengths follow, in the order 16 17 18 0 8 7 … 2 14 1:
        for length in [0, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 0, 2] { bits.write(length, bits: 3) }
        // The codes are now 0 for 18, 10 for 1 and 11 for 2, written from their first bit.
        bits.append([1, 1])  // byte 0: two bits
        bits.append([0])
        bits.write(138 - 11, bits: 7)
        bits.append([0])
        bits.write(117 - 11, bits: 7)
        bits.append([1, 1])  // end of block: two bits
        bits.append([0])
        bits.write(28 - 11, bits: 7)
        bits.append([1, 0])  // 285: one bit
        bits.append([1, 0])  // distance 1: one bit
        for _ in 0..<(count - copies * 258) { bits.append([1, 0]) }

        var zeros = copies * 2
        let padding = min(zeros, bits.bitsToByte)
        bits.append([Int](repeating: 0, count: padding))
        zeros -= padding
        let middle = zeros / 8
        var end = middle > 0 ? BitWriter() : bits
        end.append([Int](repeating: 0, count: zeros % 8))
        end.append([1, 1])
        let trailer = littleEndian(CRC32.ofZeros(count)) + littleEndian(UInt32(truncatingIfNeeded: count))
        let head = header + (middle > 0 ? bits.bytes : [])
        return joined(head, zeros: middle, end.bytes + trailer)
    }

    private static func joined(_ head: [UInt8], zeros: Int, _ tail: [UInt8]) -> Content {
        let tailStart = head.count + zeros
        return Content(count: tailStart + tail.count) { offset, count in
            let end = offset + count
            var bytes = Array(head[min(offset, head.count)..<min(end, head.count)])
            let run = min(end, tailStart) - max(offset, head.count)
            if run > 0 { bytes += [UInt8](repeating: 0, count: run) }
            if end > tailStart { bytes += tail[max(0, offset - tailStart)..<(end - tailStart)] }
            return bytes
        }
    }

    static func littleEndian(_ value: UInt32) -> [UInt8] {
        [0, 8, 16, 24].map { UInt8(truncatingIfNeeded: value >> $0) }
    }
}

/// Packs bits into bytes, lowest bit first.
private struct BitWriter {
    private(set) var bytes: [UInt8] = []
    private var used = 8

    /// The number of free bits in the last byte.
    var bitsToByte: Int { 8 - used }

    /// Writes a number, lowest bit first.
    mutating func write(_ value: Int, bits: Int) {
        for shift in 0..<bits { append([value >> shift & 1]) }
    }

    /// Writes bits in the given order.
    mutating func append(_ bits: [Int]) {
        for bit in bits {
            if used == 8 {
                bytes.append(0)
                used = 0
            }
            bytes[bytes.count - 1] |= UInt8(bit) << UInt8(used)
            used += 1
        }
    }
}

/// The checksum of gzip (RFC 1952 §8).
enum CRC32 {
    private static let table: [UInt32] = (0..<256).map { index in
        (0..<8).reduce(UInt32(index)) { value, _ in value & 1 == 1 ? value >> 1 ^ 0xedb8_8320 : value >> 1 }
    }

    static func of(_ bytes: [UInt8]) -> UInt32 {
        table.withUnsafeBufferPointer { table in
            var crc: UInt32 = 0xffff_ffff
            for byte in bytes { crc = table[Int((crc ^ UInt32(byte)) & 0xff)] ^ crc &>> 8 }
            return ~crc
        }
    }

    /// The checksum of `count` zero bytes, in logarithmic time.
    static func ofZeros(_ count: Int) -> UInt32 {
        // Processing a zero byte is linear over GF(2): a matrix, raised to the power `count` by squaring.
        var step = (0..<32).map { bit -> UInt32 in
            let crc = UInt32(1) << UInt32(bit)
            return table[Int(crc & 0xff)] ^ crc >> 8
        }
        var crc: UInt32 = 0xffff_ffff
        var left = max(0, count)
        while left > 0 {
            if left & 1 == 1 { crc = apply(step, to: crc) }
            step = step.map { apply(step, to: $0) }
            left >>= 1
        }
        return ~crc
    }

    private static func apply(_ matrix: [UInt32], to vector: UInt32) -> UInt32 {
        matrix.indices.reduce(0) { $0 ^ (vector >> UInt32($1) & 1 == 1 ? matrix[$1] : 0) }
    }
}
