// SPDX-License-Identifier: Apache-2.0
extension FaultServer {
    /// A request, as passed to a script.
    public struct Request: Sendable {
        /// The method as sent.
        public var method: String
        /// Path and query as sent; of an absolute target only its path and query.
        public var target: String
        /// The path without the query.
        public var path: String
        /// The names and values of the query, percent-decoded; a plus sign is kept.
        public var query: [(name: String, value: String)]
        /// The header fields, in order.
        public var headers: [(name: String, value: String)]
        /// The body, up to 16 MiB; empty if the script reads no body.
        public var body: [UInt8]
        /// The length of the complete body.
        public var bodyLength: Int
        /// The number of the connection, starting at 1.
        public var connection: Int
        /// The number of the request on its connection, starting at 1.
        public var numberOnConnection: Int
        /// The number of the request among those for the same target, starting at 1.
        public var occurrence: Int

        /// The first value of a header field.
        public func header(_ name: String) -> String? {
            headers.first { $0.name.equalsIgnoringCase(name) }?.value
        }

        /// The first value of a query item.
        public func query(_ name: String) -> String? {
            query.first { $0.name == name }?.value
        }
    }
}

enum Query {
    /// Splits and decodes a query.
    static func items(of text: Substring) -> [(name: String, value: String)] {
        text.split(separator: "&").map { item in
            guard let equals = item.firstIndex(of: "=") else { return (decoded(item), "") }
            return (decoded(item[..<equals]), decoded(item[item.index(after: equals)...]))
        }
    }

    /// Percent-decodes; invalid escapes are kept.
    static func decoded(_ text: Substring) -> String {
        guard text.utf8.contains(UInt8(ascii: "%")) else { return String(text) }
        let source = Array(text.utf8)
        var bytes: [UInt8] = []
        var index = 0
        while index < source.count {
            if source[index] == UInt8(ascii: "%"), index + 2 < source.count,
                let high = Hex.value(of: source[index + 1]), let low = Hex.value(of: source[index + 2])
            {
                bytes.append(high << 4 | low)
                index += 3
            } else {
                bytes.append(source[index])
                index += 1
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

enum Hex {
    static func value(of byte: UInt8) -> UInt8? {
        switch byte {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    static func text(of bytes: [UInt8]) -> String {
        let digits = Array("0123456789abcdef".utf8)
        var text: [UInt8] = []
        text.reserveCapacity(bytes.count * 2)
        for byte in bytes {
            text.append(digits[Int(byte >> 4)])
            text.append(digits[Int(byte & 15)])
        }
        return String(decoding: text, as: UTF8.self)
    }
}

extension String {
    /// Compares ignoring the case of ASCII letters.
    func equalsIgnoringCase(_ other: String) -> Bool {
        let (mine, theirs) = (utf8, other.utf8)
        guard mine.count == theirs.count else { return false }
        return zip(mine, theirs).allSatisfy { left, right in
            let lowercased = left | 32
            return left == right || (lowercased == right | 32 && (97...122).contains(lowercased))
        }
    }
}
