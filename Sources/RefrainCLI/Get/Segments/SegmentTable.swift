// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The segments of a file, and the progress of each of them.
///
/// The bounds are in the ``PartialRecord``. The positions are in a file of their own, eight bytes each, written after
/// the bytes that they count: after `kill -9` at any instant they count only bytes that were written. They are stored
/// twice, the second time as of the last `fsync`, which is used after a crash of the system.
struct SegmentTable {
    /// A part of the file.
    struct Segment: Equatable {
        /// Its bytes in the content.
        let bounds: Range<Int64>
        /// The first byte that is missing.
        var position: Int64

        var isDone: Bool { position >= bounds.upperBound }
    }

    private(set) var segments: [Segment]
    private let descriptor: Int32

    /// The minimum length of a segment; below it a request costs more than it gains.
    static let minimumLength: Int64 = 1 << 20

    /// The bounds for a body of which the first bytes are fetched already.
    ///
    /// There are four times as many as connections, so that a slow connection does not have a large part at the end.
    static func bounds(total: Int64, first: Int64, connections: Int) -> [Range<Int64>] {
        let count = Int64(connections) * 4
        let length = max(minimumLength, (total - first + count - 1) / count)
        return [0..<first]
            + stride(from: first, to: total, by: Int64.Stride(length)).map { $0..<($0 + min(length, total - $0)) }
    }

    /// Makes the file of positions, all of them at their beginning.
    init(path: String, bounds: [Range<Int64>]) throws(SystemError) {
        segments = bounds.map { Segment(bounds: $0, position: $0.lowerBound) }
        descriptor = open(path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC | O_NOFOLLOW, 0o600)
        guard descriptor >= 0 else { throw SystemError(what: "cannot write \(path)", code: errno) }
        let positions = segments.map { UInt64($0.position).littleEndian }
        guard (positions + positions).withUnsafeBytes({ systemWriteAll(descriptor, $0) }) else {
            let code = errno
            close(descriptor)
            throw SystemError(what: "cannot write \(path)", code: code)
        }
    }

    /// Reads the file of positions; nil where it does not belong to the bounds.
    ///
    /// - Parameter isSameBoot: whether all written positions are valid, because the system has not been restarted.
    init?(reading path: String, bounds: [Range<Int64>], isSameBoot: Bool) {
        let descriptor = open(path, O_RDWR | O_CLOEXEC | O_NOFOLLOW)
        guard descriptor >= 0 else { return nil }
        var positions = [UInt64](repeating: 0, count: bounds.count * 2 + 1)
        let size = positions.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        let offset = isSameBoot ? 0 : bounds.count
        let segments = bounds.enumerated().compactMap { index, bounds -> Segment? in
            guard let position = Int64(exactly: UInt64(littleEndian: positions[offset + index])),
                (bounds.lowerBound...bounds.upperBound).contains(position)
            else { return nil }
            return Segment(bounds: bounds, position: position)
        }
        guard size == bounds.count * 16, segments.count == bounds.count else {
            close(descriptor)
            return nil
        }
        self.segments = segments
        self.descriptor = descriptor
    }

    /// The bytes that are there.
    var size: Int64 { segments.reduce(0) { $0 + $1.position - $1.bounds.lowerBound } }

    /// Counts the last byte as missing if none is; a request for it verifies that the content is the same.
    mutating func fetchLastByteAgain() {
        guard segments.allSatisfy(\.isDone), let last = segments.indices.last else { return }
        segments[last].position = segments[last].bounds.upperBound - 1
    }

    /// Removes positions beyond the size of the file.
    ///
    /// The positions are on the disk before the file can grow again, which would hide the gap.
    mutating func limit(to size: Int64) throws(SystemError) {
        var isChanged = false
        for index in segments.indices where segments[index].position > max(size, segments[index].bounds.lowerBound) {
            segments[index].position = max(size, segments[index].bounds.lowerBound)
            try write(segments[index].position, at: index)
            try write(segments[index].bounds.lowerBound, at: segments.count + index)
            isChanged = true
        }
        guard isChanged else { return }
        guard fsync(descriptor) == 0 else {
            throw SystemError(what: "cannot write the positions of segments", code: errno)
        }
    }

    /// Records that bytes of a segment are in the file.
    mutating func advance(_ index: Int, by count: Int) throws(SystemError) {
        segments[index].position += Int64(count)
        try write(segments[index].position, at: index)
    }

    /// Records that the bytes before some positions are on the disk.
    func noteSynced(_ positions: [Int64]) throws(SystemError) {
        for (index, position) in positions.enumerated() { try write(position, at: segments.count + index) }
        fsync(descriptor)
    }

    private func write(_ position: Int64, at slot: Int) throws(SystemError) {
        let count = withUnsafeBytes(of: UInt64(position).littleEndian) {
            pwrite(descriptor, $0.baseAddress, 8, off_t(slot * 8))
        }
        guard count == 8 else { throw SystemError(what: "cannot write the positions of segments", code: errno) }
    }

    /// Closes the file.
    func end() { close(descriptor) }
}
