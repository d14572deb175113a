// SPDX-License-Identifier: Apache-2.0
/// Checks the sizes of the chunks of a body (RFC 9112 §7.1).
///
/// libcurl ignores what follows the hexadecimal digits of a size, up to the end of the line. It takes `8g` for 8, and
/// `0x8` for the end of the body.
struct ChunkFraming {
    private enum State {
        case size(digits: Int)
        /// White space behind a size, which only an extension or the end of the line may follow.
        case space
        case extensions
        /// A CR, which LF must follow.
        case endOfSize
        case data
        case endOfData
        /// The trailers, or data that libcurl rejects.
        case unchecked
    }

    private var state = State.size(digits: 0)
    private var left: UInt64 = 0

    /// Reads the next bytes of the body as they were received; returns false if a size is malformed.
    mutating func accepts(_ bytes: UnsafeRawBufferPointer) -> Bool {
        var index = 0
        while index < bytes.count {
            let byte = bytes[index]
            switch state {
            case .unchecked:
                return true
            case .data:
                let count = Int(min(UInt64(bytes.count - index), left))
                left -= UInt64(count)
                index += count
                if left == 0 { state = .endOfData }
                continue
            case .size(let digits):
                if let digit = Self.value(byte) {
                    // libcurl rejects a longer size.
                    guard digits < 16 else { return false }
                    left = left << 4 | digit
                    state = .size(digits: digits + 1)
                } else {
                    guard digits > 0, noteEndOfSize(byte) else { return false }
                }
            case .space:
                guard byte == 0x20 || byte == 0x09 || noteEndOfSize(byte) else { return false }
            case .extensions:
                if byte == 0x0D { state = .endOfSize } else if byte == 0x0A { beginData() }
            case .endOfSize:
                guard byte == 0x0A else { return false }
                beginData()
            case .endOfData:
                // libcurl checks the end of the data.
                if byte == 0x0A { (state, left) = (.size(digits: 0), 0) }
            }
            index += 1
        }
        return true
    }

    private mutating func noteEndOfSize(_ byte: UInt8) -> Bool {
        switch byte {
        case 0x20, 0x09: state = .space
        case UInt8(ascii: ";"): state = .extensions
        case 0x0D: state = .endOfSize
        case 0x0A: beginData()
        default: return false
        }
        return true
    }

    private mutating func beginData() { state = left == 0 ? .unchecked : .data }

    private static func value(_ byte: UInt8) -> UInt64? {
        switch byte {
        case 0x30...0x39: UInt64(byte - 0x30)
        case 0x41...0x46: UInt64(byte - 0x41 + 10)
        case 0x61...0x66: UInt64(byte - 0x61 + 10)
        default: nil
        }
    }
}
