// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The bytes of the last head that a handle received, and its parsed fields.
///
/// The responses to repeated requests mostly have the same head; its date changes once a second. Comparing a head takes
/// a fraction of the time of parsing it, and the fields of equal heads share their memory.
struct HeaderCache {
    /// The maximum size of a cached head in bytes; a larger one is parsed each time.
    private static let maximumSize = 8192

    /// The parsed fields of a head.
    struct Meaning {
        var headers: HTTPHeaders
        var contentLength: Int64?
        var isChunked: Bool
        var hasTransferCoding: Bool
        var coding: ContentCoding
        var keepAlive: Int64?
    }

    private var bytes: [UInt8] = []
    /// The end of each line.
    private var ends: [Int] = []
    private(set) var meaning: Meaning?

    /// The number of equal lines at the start of the current head; nil after a line that differs.
    private var same: Int?

    enum Comparison {
        /// The line is equal, and not the last one.
        case same
        /// The line ends the head, and all lines were equal.
        case whole
        /// The line differs; this many lines before it were equal and have not been parsed.
        case different(skipped: Int)
        /// The line must be parsed, as the lines before it were.
        case new
    }

    /// Begins the next head.
    mutating func begin() {
        if meaning == nil { forget() } else { same = 0 }
    }

    /// Compares a line of the current head.
    mutating func compare(_ line: UnsafeBufferPointer<UInt8>) -> Comparison {
        guard let index = same else {
            append(line)
            return .new
        }
        if index < ends.count, isEqual(line, to: index) {
            same = index + 1
            return index + 1 == ends.count ? .whole : .same
        }
        return differ(line, at: index)
    }

    /// Accepts an equal line that is neither the first nor the last one; returns false for others, and ignores them.
    mutating func skip(_ line: UnsafeBufferPointer<UInt8>) -> Bool {
        guard let index = same, index > 0, index &+ 1 < ends.count, isEqual(line, to: index) else { return false }
        same = index &+ 1
        return true
    }

    private mutating func differ(_ line: UnsafeBufferPointer<UInt8>, at index: Int) -> Comparison {
        same = nil
        meaning = nil
        bytes.removeSubrange((index == 0 ? 0 : ends[index - 1])...)
        ends.removeSubrange(index...)
        append(line)
        return .different(skipped: index)
    }

    /// Stores the parsed fields of the current head, unless it is too large.
    mutating func keep(_ meaning: Meaning) {
        if bytes.count <= Self.maximumSize { self.meaning = meaning } else { forget() }
    }

    mutating func forget() {
        same = nil
        meaning = nil
        bytes.removeAll(keepingCapacity: true)
        ends.removeAll(keepingCapacity: true)
    }

    func withLine<Result>(_ index: Int, _ body: (UnsafeBufferPointer<UInt8>) -> Result) -> Result {
        bytes.withUnsafeBufferPointer { body(UnsafeBufferPointer(rebasing: $0[range(of: index)])) }
    }

    private func range(of line: Int) -> Range<Int> { (line == 0 ? 0 : ends[line - 1])..<ends[line] }

    private func isEqual(_ line: UnsafeBufferPointer<UInt8>, to index: Int) -> Bool {
        let range = range(of: index)
        guard line.count == range.count, let start = line.baseAddress else { return false }
        return bytes.withUnsafeBufferPointer { bytes in
            bytes.baseAddress.map { memcmp($0 + range.lowerBound, start, line.count) == 0 } ?? false
        }
    }

    private mutating func append(_ line: UnsafeBufferPointer<UInt8>) {
        guard bytes.count <= Self.maximumSize else { return }
        bytes.append(contentsOf: line)
        ends.append(bytes.count)
    }
}
