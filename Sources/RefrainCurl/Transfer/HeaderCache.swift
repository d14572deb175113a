internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The head that a handle received last, byte for byte, and what it meant.
///
/// A server that is asked the same again mostly says the same again: the date in it changes once a second. To compare
/// such a head costs a fraction of what it costs to read it, and its fields need no memory of their own.
struct HeaderCache {
    /// How much is remembered; a larger head is read anew each time.
    private static let maximumSize = 8192

    /// What the fields of a head say.
    struct Meaning {
        var headers: HTTPHeaders
        var contentLength: Int64?
        var isChunked: Bool
        var coding: ContentCoding
    }

    private var bytes: [UInt8] = []
    /// Where each line ends.
    private var ends: [Int] = []
    private(set) var meaning: Meaning?

    /// How many lines of the present head were the same so far; nil once one was not.
    private var same: Int?

    enum Comparison {
        /// The line is the same, and the head goes on.
        case same
        /// The line ends the head, and all lines were the same.
        case whole
        /// The line is another one; so many before it were the same, and have not been read.
        case different(skipped: Int)
        /// The line is to be read, as those before were.
        case new
    }

    /// Begins with the next head.
    mutating func begin() {
        if meaning == nil { forget() } else { same = 0 }
    }

    /// Takes a line of the present head.
    @inline(__always)
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

    /// Takes a line that is the same, and neither the first nor the last one; else takes nothing, and says so.
    @inline(__always)
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

    /// Remembers what the lines meant that were taken since the beginning.
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

    @inline(__always)
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
