extension URLText {
    /// Percent-encodes the characters of a URL or URL reference that are not allowed after the host.
    ///
    /// Existing escapes are kept, as curl and browsers do. Foundation also escapes the `%` of a path or query once
    /// anything else in it needs escaping: `/a%20b|c` would become `/a%2520b%7Cc`, which is another resource.
    static func escaped(_ text: String) -> String {
        var text = text
        return text.withUTF8 { bytes in
            let start = endOfAuthority(bytes)
            guard needsEscapes(bytes[start...]) else { return String(decoding: bytes, as: UTF8.self) }
            var result = Array(bytes[..<start])
            result.reserveCapacity(bytes.count + 32)
            var isFragment = false
            for (index, byte) in bytes.enumerated().dropFirst(start) {
                if isAllowed(byte) || byte == percent && isEscape(bytes[index...]) {
                    result.append(byte)
                } else if byte == UInt8(ascii: "#"), !isFragment {
                    isFragment = true
                    result.append(byte)
                } else {
                    result += [percent, hexDigit(byte >> 4), hexDigit(byte & 0xF)]
                }
            }
            return String(decoding: result, as: UTF8.self)
        }
    }

    /// Whether a byte of a path, query and fragment needs escaping.
    static func needsEscapes(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        var isFragment = false
        var index = bytes.startIndex
        while index < bytes.endIndex {
            let byte = bytes[index]
            if !isAllowed(byte) {
                if byte == percent {
                    guard isEscape(bytes[index...]) else { return true }
                } else {
                    guard byte == UInt8(ascii: "#"), !isFragment else { return true }
                    isFragment = true
                }
            }
            index += 1
        }
        return false
    }

    /// The offset where scheme and host end; 0 if the text has neither.
    private static func endOfAuthority(_ bytes: UnsafeBufferPointer<UInt8>) -> Int {
        let ends: [UInt8] = [UInt8(ascii: "/"), UInt8(ascii: "?"), UInt8(ascii: "#")]
        guard let slash = bytes.firstIndex(where: ends.contains), bytes[slash...].starts(with: "//".utf8),
            slash == 0 || bytes[slash - 1] == UInt8(ascii: ":")
        else { return 0 }
        return bytes[(slash + 2)...].firstIndex(where: ends.contains) ?? bytes.count
    }

    /// Whether the bytes begin with `%` and two hexadecimal digits (RFC 3986 §2.1).
    private static func isEscape(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        bytes.count > 2
            && bytes.prefix(3).dropFirst().allSatisfy { byte in
                (0x30...0x39).contains(byte) || (0x41...0x46).contains(byte & 0xDF)
            }
    }

    /// Whether a byte is allowed in every component after the host (RFC 3986 §3.3 and §3.4), except `%` and `#`.
    private static func isAllowed(_ byte: UInt8) -> Bool {
        guard byte < 0x80 else { return false }
        return (byte < 64 ? allowedLow &>> byte : allowedHigh &>> (byte & 63)) & 1 == 1
    }

    // One bit per byte value: the lookup runs for each byte of every request's URL.
    private static let allowedLow = mask(over: 0..<64)
    private static let allowedHigh = mask(over: 64..<128)

    private static func mask(over bytes: Range<UInt8>) -> UInt64 {
        let allowed = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~!$&'()*+,;=:@/?"
        return allowed.utf8.filter(bytes.contains).reduce(0) { $0 | 1 &<< UInt64($1 & 63) }
    }

    private static var percent: UInt8 { UInt8(ascii: "%") }

    private static func hexDigit(_ value: UInt8) -> UInt8 { value < 10 ? 0x30 + value : 0x37 + value }
}
