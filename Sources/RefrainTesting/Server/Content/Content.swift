// SPDX-License-Identifier: Apache-2.0
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

/// A `Range` header with a single range of bytes (RFC 9110 §14.1.2).
enum ByteRange: Equatable {
    case from(Int, to: Int?)
    case last(Int)

    /// Parses the field; `nil` for values that a server may ignore: other units, several ranges, malformed values.
    init?(_ header: String) {
        guard header.lowercased().hasPrefix("bytes=") else { return nil }
        let ends = header.dropFirst(6).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, !header.contains(",") else { return nil }
        let numbers = ends.map { text in
            !text.isEmpty && text.utf8.allSatisfy { (48...57).contains($0) } ? Int(text) ?? Int.max : nil
        }
        switch (numbers[0], numbers[1]) {
        case (nil, let count?) where ends[0].isEmpty: self = .last(count)
        case (let first?, nil) where ends[1].isEmpty: self = .from(first, to: nil)
        case (let first?, let last?) where first <= last: self = .from(first, to: last)
        default: return nil
        }
    }

    /// The range within a body of `total` bytes; `nil` if it is empty (416).
    func resolved(in total: Int) -> Range<Int>? {
        switch self {
        case .from(let first, let last):
            guard first < total else { return nil }
            return first..<(min(last ?? total - 1, total - 1) + 1)
        case .last(let count):
            guard count > 0, total > 0 else { return nil }
            return (total - min(count, total))..<total
        }
    }
}

/// The reason phrases of status codes (RFC 9110 §15).
enum ReasonPhrase {
    static func of(_ status: Int) -> String { known[status] ?? "Status \(status)" }

    private static let known: [Int: String] = [
        100: "Continue", 103: "Early Hints", 200: "OK", 201: "Created", 202: "Accepted", 204: "No Content",
        206: "Partial Content", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified",
        307: "Temporary Redirect", 308: "Permanent Redirect", 400: "Bad Request", 401: "Unauthorized",
        403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed", 407: "Proxy Authentication Required",
        408: "Request Timeout", 409: "Conflict", 410: "Gone", 412: "Precondition Failed", 413: "Content Too Large",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request",
        422: "Unprocessable Content", 425: "Too Early", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 500: "Internal Server Error", 501: "Not Implemented",
        502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout", 505: "HTTP Version Not Supported",
    ]
}
