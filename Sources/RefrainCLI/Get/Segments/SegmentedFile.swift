// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that is written atomically, and fetched in several segments at a time.
///
/// The first request fetches its beginning. If the response has a strong validator, the rest is divided into segments,
/// which are written to `.NAME.part` at their offsets, with a ``PartialRecord`` and a ``SegmentTable`` beside it; the
/// record is written last and removed first, as with ``ResumableFile``. Without ranges or such a validator the content
/// is fetched as a whole, into a ``ResumableFile``.
final class SegmentedFile: PartialContent {
    /// The size that one request fetches before the content is divided, or the segments of an earlier run are
    /// continued.
    static let firstLength = SegmentTable.minimumLength

    private let found: String?
    /// How many bytes an earlier run has left.
    private let foundSize: Int64
    private let hasStartedOver = Locked(false)
    private let path: String
    private let freeName: FreeName?
    private let url: String
    private let connections: Int
    private let names: PartialNames
    private let state: Locked<State>

    private enum State {
        /// Nothing was received.
        case empty
        /// The content is fetched in segments.
        case divided(Parts)
        /// The content is fetched as a whole.
        case whole(ResumableFile)
        case done(size: Int64)
    }

    private struct Parts {
        let descriptor: Int32
        let record: PartialRecord
        var checkpoint: Download.Checkpoint
        var table: SegmentTable
        /// The segment that the first request of this run fetches.
        var first: Int
        var sinceSync: Int64 = 0
    }

    /// Whether an earlier run has left segments of a file.
    static func isThere(_ names: PartialNames) -> Bool { access(names.positions, F_OK) == 0 }

    /// Prepares for a file; creates nothing.
    ///
    /// - Throws: `HTTPBody.FileError` where the target is not a file, or another process writes it.
    init(path: String, _ freeName: FreeName? = nil, url: String, connections: Int) throws(HTTPBody.FileError) {
        self.path = path
        self.freeName = freeName
        self.url = url
        self.connections = connections
        names = PartialNames(path)
        guard PartialRecord.read(names.record)?.segments != nil else {
            // A partial file of an earlier run without segments is continued as it is.
            let file = try ResumableFile(path: path, freeName, url: url)
            (found, foundSize) = (file.remark, 0)
            state = Locked(file.checkpoint == nil ? .empty : .whole(file))
            return
        }
        let descriptor = try names.take()
        // Before the file was locked, its record may have changed.
        guard let descriptor, let record = PartialRecord.read(names.record),
            let parts = Self.parts(names, record, url, descriptor)
        else {
            if let descriptor {
                names.remove()
                close(descriptor)
            }
            (found, foundSize) = ("a partial file that cannot be continued was removed", 0)
            state = Locked(.empty)
            return
        }
        foundSize = parts.table.size
        found = "goes on with \(SizeText.short(foundSize)) of \(SizeText.short(record.total ?? 0))"
        state = Locked(.divided(parts))
    }

    deinit { endParts() }

    var filePath: String? { freeName?.path ?? path }

    /// A message about a partial file that was found; nil: none.
    var remark: String? {
        if foundSize > 0, hasStartedOver.withLock({ $0 }) { return ResumableFile.remarkOnStartingOver(foundSize) }
        return state.withLock { if case .whole(let file) = $0 { file.remark } else { nil } } ?? found
    }

    private static func parts(
        _ names: PartialNames,
        _ record: PartialRecord,
        _ url: String,
        _ descriptor: Int32
    ) -> Parts? {
        guard record.isOf(url), let bounds = record.bounds,
            var table = SegmentTable(
                reading: names.positions,
                bounds: bounds,
                isSameBoot: record.boot == PartialRecord.currentBoot
            )
        else { return nil }
        var status = stat()
        do {
            guard fstat(descriptor, &status) == 0 else {
                throw SystemError(what: "cannot read \(names.part)", code: errno)
            }
            // Another program may have shortened the file, or written beyond the end of the content.
            try table.limit(to: Int64(status.st_size))
            guard status.st_size <= bounds.last?.upperBound ?? 0 else {
                throw SystemError(what: "cannot continue \(names.part)", code: EFBIG)
            }
        } catch {
            table.end()
            return nil
        }
        // The process may have been killed while it compared the digest.
        table.fetchLastByteAgain()
        guard let first = table.segments.firstIndex(where: { !$0.isDone }), table.segments[first].position > 0,
            let checkpoint = record.checkpoint(offset: table.segments[first].position)
        else {
            table.end()
            return nil
        }
        return Parts(descriptor: descriptor, record: record, checkpoint: checkpoint, table: table, first: first)
    }

    /// The download of the beginning, or of the first part that an earlier run has left.
    func download(to sink: any Download.Sink) -> Download {
        state.withLock { state in
            switch state {
            case .empty, .done: return Download(to: sink, from: nil, upTo: Self.firstLength)
            case .whole(let file): return file.download(to: sink)
            case .divided(let parts):
                let bounds = parts.table.segments[parts.first].bounds
                let end = min(parts.checkpoint.offset + Self.firstLength, bounds.upperBound)
                return Download(to: sink, from: parts.checkpoint, upTo: end)
            }
        }
    }

    func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {
        // Each request is for a part, which may be small enough.
        if let limit = response.request.maximumBodySize, let total = checkpoint?.total, total > limit {
            let message = "the body is larger than \(limit) bytes"
            throw HTTPError(.dataLengthExceedsMaximum, request: response.request, message: message)
        }
        let file = try state.withLock { state -> ResumableFile? in
            switch state {
            case .divided(var parts):
                guard let checkpoint, checkpoint.offset == parts.table.segments[parts.first].position else {
                    throw failure(EIO)
                }
                parts.checkpoint = checkpoint
                state = .divided(parts)
                return nil
            case .empty where response.status == .partialContent:
                guard let checkpoint, let total = checkpoint.total else { throw failure(EIO) }
                let first = min(Self.firstLength, total)
                let bounds = SegmentTable.bounds(total: total, first: first, connections: connections)
                state = .divided(try begin(checkpoint, bounds))
                return nil
            case .empty, .done:
                let file = try ResumableFile(path: path, freeName, url: url)
                state = .whole(file)
                return file
            case .whole(let file): return file
            }
        }
        try await file?.willReceive(response, from: checkpoint)
    }

    /// Creates the partial file, the positions and, last, the record.
    private func begin(_ checkpoint: Download.Checkpoint, _ bounds: [Range<Int64>]) throws -> Parts {
        // The target is checked first: if it is not a file, nothing is fetched.
        try Download.FileSink(path: path).discard()
        let descriptor = try names.make()
        unlink(names.record)
        guard ftruncate(descriptor, 0) == 0 else {
            let code = errno
            close(descriptor)
            throw failure(code)
        }
        do {
            let table = try SegmentTable(path: names.positions, bounds: bounds)
            var record = PartialRecord(url: url, checkpoint)
            record.segments = bounds.map { [$0.lowerBound, $0.upperBound] }
            try record.write(names.record)
            return Parts(descriptor: descriptor, record: record, checkpoint: checkpoint, table: table, first: 0)
        } catch {
            close(descriptor)
            throw error
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        let file = state.withLock { state -> (ResumableFile?, Int) in
            switch state {
            case .whole(let file): (file, 0)
            case .divided(let parts): (nil, parts.first)
            case .empty, .done: (nil, -1)
            }
        }
        if let whole = file.0 { return try await whole.write(bytes) }
        try write(bytes, to: file.1)
    }

    /// Appends bytes to a segment.
    func write(_ bytes: [UInt8], to index: Int) throws {
        // One request at a time writes to a segment, so its position does not change meanwhile.
        let target: (Int32, Int64)? = state.withLock { state in
            guard case .divided(let parts) = state, parts.table.segments.indices.contains(index) else { return nil }
            return (parts.descriptor, parts.table.segments[index].position)
        }
        guard let (descriptor, position) = target else { throw failure(EBADF) }
        guard bytes.withUnsafeBytes({ systemWriteAll(descriptor, $0, at: position) }) else { throw failure(errno) }
        let synced: [Int64]? = try state.withLock { state in
            guard case .divided(var parts) = state else { return nil }
            try parts.table.advance(index, by: bytes.count)
            parts.sinceSync += Int64(bytes.count)
            defer { state = .divided(parts) }
            guard parts.sinceSync >= ResumableFile.syncInterval else { return nil }
            parts.sinceSync = 0
            return parts.table.segments.map(\.position)
        }
        if let synced { try sync(descriptor, synced) }
    }

    /// Synchronizes the file, and records the positions.
    private func sync(_ descriptor: Int32, _ positions: [Int64]) throws {
        guard fsync(descriptor) == 0 else { throw failure(errno) }
        try state.withLock { state in
            if case .divided(let parts) = state { try parts.table.noteSynced(positions) }
        }
    }

    /// The incomplete segments.
    var pending: [Int] {
        state.withLock { state in
            guard case .divided(let parts) = state else { return [] }
            return parts.table.segments.indices.filter { !parts.table.segments[$0].isDone }
        }
    }

    /// The missing range of a segment; nil if it is complete.
    func missing(of index: Int) -> (index: Int, from: Download.Checkpoint, end: Int64)? {
        state.withLock { state in
            guard case .divided(let parts) = state, !parts.table.segments[index].isDone else { return nil }
            var checkpoint = parts.checkpoint
            checkpoint.offset = parts.table.segments[index].position
            return (index, checkpoint, parts.table.segments[index].bounds.upperBound)
        }
    }

    /// The length of the content if it is fetched in segments.
    var total: Int64? {
        state.withLock { state in
            guard case .divided(let parts) = state else { return nil }
            return parts.checkpoint.total
        }
    }

    /// Discards the segments; the content is then fetched as a whole.
    func abandonSegments() throws {
        try state.withLock { state in
            guard case .divided(let parts) = state else { return }
            abandon(parts)
            state = .whole(try ResumableFile(path: path, freeName, url: url))
        }
    }

    func startOver() async throws {
        let file = state.withLock { state -> ResumableFile? in
            switch state {
            case .whole(let file): return file
            case .divided(let parts):
                abandon(parts)
                state = .empty
                return nil
            case .empty, .done: return nil
            }
        }
        try await file?.startOver()
    }

    var delivered: Int64 {
        state.withLock { state in
            switch state {
            case .done(let size): size
            case .whole(let file): file.delivered
            case .empty, .divided: 0
            }
        }
    }

    var size: Int64 {
        state.withLock { state in
            switch state {
            case .done(let size): size
            case .whole(let file): file.size
            case .divided(let parts): parts.table.size
            case .empty: 0
            }
        }
    }

    var isPartial: Bool {
        state.withLock { state in
            switch state {
            case .whole(let file): file.isPartial
            case .divided(let parts): parts.table.size > 0
            case .empty, .done: false
            }
        }
    }

    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        let source = state.withLock { state -> (ResumableFile?, Int32, Int64) in
            switch state {
            case .whole(let file): (file, -1, 0)
            case .divided(let parts): (nil, parts.descriptor, parts.table.size)
            case .empty, .done: (nil, -1, 0)
            }
        }
        if let file = source.0 { return try file.readBack(body) }
        guard source.1 >= 0 else { return false }
        guard systemReadAll(source.1, source.2, body) else { throw failure(errno) }
        return true
    }

    func finish() throws {
        try state.withLock { state in
            switch state {
            case .done: return
            case .whole(let file): try file.finish()
            case .empty:
                // An empty content: no response had a byte.
                try Download.FileSink(path: path).finish(freeName)
                state = .done(size: 0)
            case .divided(let parts):
                guard parts.table.segments.allSatisfy(\.isDone) else { throw failure(EIO) }
                names.adoptMode(parts.descriptor)
                state = .done(size: parts.table.size)
                defer { end(parts) }
                try names.moveToTarget(parts.descriptor, freeName)
            }
        }
    }

    /// Ends without the whole body; keeps the segments.
    func discard() {
        state.withLock { state in
            switch state {
            case .whole(let file): file.discard()
            case .divided(let parts):
                if parts.table.size == 0 {
                    names.remove()
                } else if fsync(parts.descriptor) == 0 {
                    try? parts.table.noteSynced(parts.table.segments.map(\.position))
                }
            case .empty, .done: break
            }
        }
    }

    /// Removes the segments of a different content.
    private func abandon(_ parts: Parts) {
        hasStartedOver.withLock { $0 = true }
        names.remove()
        end(parts)
    }

    private func endParts() {
        state.withLock { state in
            if case .divided(let parts) = state { end(parts) }
        }
    }

    private func end(_ parts: Parts) {
        parts.table.end()
        // As with a file in one piece, the lock ends here, even if another process has a copy of the descriptor.
        flock(parts.descriptor, LOCK_UN)
        close(parts.descriptor)
    }

    private func failure(_ code: Int32, _ operation: HTTPBody.FileError.Operation = .write) -> HTTPBody.FileError {
        HTTPBody.FileError(path: path, operation: operation, errno: code)
    }
}
