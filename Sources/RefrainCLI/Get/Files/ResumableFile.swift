// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// A file that is written atomically, and whose beginning a later process can continue.
///
/// A body with a strong validator goes into `.NAME.part` beside the target, with `.NAME.part.json`, a
/// ``PartialRecord``. `kill -9` at any instant leaves a pair that can be continued, or files that the next run removes:
/// - the record is written, by a rename, before the first byte of the content, into an empty partial file;
/// - before a partial file is emptied for another body, the record is removed;
/// - the whole file is moved to its name before the record is removed.
///
/// A small content, or one without a validator, goes into a `Download.FileSink`, which leaves nothing behind.
final class ResumableFile: PartialContent, DirectSink {
    /// Below this size a body is fetched again as a whole: a record would cost more.
    static let minimumSize: Int64 = 256 << 10
    /// After this many bytes the file is synchronized, and the record updated.
    static let syncInterval: Int64 = 512 << 20
    /// From this size on, the only file of a run is written by a separate thread.
    static let minimumSizeBeside: Int64 = 16 << 20

    /// Where an earlier process stopped.
    let checkpoint: Download.Checkpoint?
    private let found: String?
    private let path: String
    private let freeName: FreeName?
    private let url: String
    private let isFresh: Bool
    private let isAlone: Bool
    private let mayTakeDirectly: Bool
    private let state: Locked<State>

    private struct State {
        /// The names of the partial file and its record; nil: not needed so far.
        var names: PartialNames?
        var descriptor: Int32 = -1
        var size: Int64 = 0
        var record: PartialRecord?
        var small: Download.FileSink?
        /// The writer of the separate thread; nil: none is running.
        var writer: BackgroundWriter?
        /// Whether a body has begun that does not continue the partial file that was found.
        var hasStartedOver = false
        /// Whether the content is large enough to be continued but has no validator.
        var lacksValidator = false
        /// Whether bytes were discarded for want of it.
        var isLost = false
        var isDone = false
    }

    /// Prepares for a file; creates nothing.
    ///
    /// - Parameters:
    ///   - freeName: its name if it replaces no file; nil: it replaces that at the path.
    ///   - isFresh: whether it is certain that no earlier process has left a partial file.
    ///   - isAlone: whether it is the only file of the run, so that no other transfer waits while it is written.
    ///   - takesDirectly: whether a large body is written by the thread that receives it.
    /// - Throws: `HTTPBody.FileError` where the target is not a file, or another process writes it.
    init(
        path: String,
        _ freeName: FreeName? = nil,
        url: String,
        isFresh: Bool = false,
        isAlone: Bool = false,
        takesDirectly: Bool = false
    ) throws(HTTPBody.FileError) {
        self.path = path
        self.freeName = freeName
        self.url = url
        self.isFresh = isFresh
        self.isAlone = isAlone
        mayTakeDirectly = takesDirectly
        var found = State()
        if isFresh {
            (checkpoint, self.found) = (nil, nil)
        } else {
            let names = PartialNames(path)
            found.names = names
            (checkpoint, self.found) = try Self.find(names, path, url, &found)
        }
        state = Locked(found)
    }

    deinit {
        state.withLock {
            _ = $0.writer?.finish()
            if $0.descriptor >= 0 { close($0.descriptor) }
        }
    }

    var filePath: String? { freeName?.path ?? path }

    /// A message about a partial file that was found; nil: none.
    var remark: String? {
        if state.withLock({ $0.isLost }) { return Self.remarkOnLoss }
        guard let checkpoint, state.withLock({ $0.hasStartedOver }) else { return found }
        return Self.remarkOnStartingOver(checkpoint.offset)
    }

    /// The message about bytes that could not be used.
    static func remarkOnStartingOver(_ size: Int64) -> String {
        "started over: what the server sends now does not continue a partial file of \(SizeText.short(size))"
    }

    /// The message if the received bytes are not kept.
    static let remarkOnLoss = "cannot be continued: the server gives no strong validator"

    var delivered: Int64 { state.withLock { $0.isDone ? $0.size : 0 } }

    /// Finds a pair that can be continued, and removes one that cannot.
    private static func find(
        _ names: PartialNames,
        _ path: String,
        _ url: String,
        _ state: inout State
    ) throws(HTTPBody.FileError) -> (Download.Checkpoint?, String?) {
        guard let descriptor = try names.take() else { return (nil, nil) }
        var status = stat()
        // A file that is longer than the content has bytes of another program.
        guard fstat(descriptor, &status) == 0, status.st_size > 0, let record = PartialRecord.read(names.record),
            record.isOf(url), record.segments == nil, record.total.map({ status.st_size <= $0 }) ?? true
        else {
            names.remove()
            close(descriptor)
            return (nil, status.st_size > 0 ? "the partial file of another response was removed" : nil)
        }
        var size = Int64(status.st_size)
        if record.boot != PartialRecord.currentBoot { size = min(size, record.synced) }
        // The last byte of a complete file is fetched again, because a range after the end is not satisfiable.
        if let total = record.total, size >= total { size = total - 1 }
        guard size > 0, let checkpoint = record.checkpoint(offset: size), ftruncate(descriptor, off_t(size)) == 0,
            lseek(descriptor, 0, SEEK_END) == off_t(size)
        else {
            unlink(names.record)
            unlink(names.part)
            close(descriptor)
            return (nil, "a partial file that cannot be continued was removed")
        }
        (state.descriptor, state.size, state.record) = (descriptor, size, record)
        return (checkpoint, "goes on at \(SizeText.short(size))")
    }

    func download(to sink: any Download.Sink) -> Download { Download(to: sink, from: checkpoint) }

    var minimumLengthOfCheckpoints: Int64 { Self.minimumSize }

    func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {
        try state.withLock { state in
            try settle(&state)
            if let checkpoint, checkpoint.offset > 0 {
                guard state.descriptor >= 0 else { return }
                state.record?.total = checkpoint.total
                guard checkpoint.offset == state.size else { throw failure(EIO) }
                return
            }
            state.lacksValidator = checkpoint == nil && Self.lacksValidator(response)
            try begin(checkpoint, &state)
        }
    }

    /// Whether a response cannot be continued only because it has no validator (RFC 9110 §8.8.1).
    private static func lacksValidator(_ response: HTTPResponse) -> Bool {
        let headers = response.headers
        let length = headers["Content-Length"].flatMap { Int64($0) } ?? .max
        return length >= minimumSize && headers["ETag"]?.hasPrefix("\"") != true
            && !headers.contains("Content-Encoding") && headers["Accept-Ranges"]?.lowercased() != "none"
    }

    /// Begins a body in an empty file.
    private func begin(_ checkpoint: Download.Checkpoint?, _ state: inout State) throws {
        state.size = 0
        state.hasStartedOver = true
        guard let checkpoint, checkpoint.total ?? .max >= Self.minimumSize else {
            if state.descriptor >= 0 { remove(&state) }
            if state.small == nil {
                state.small = try isFresh ? Download.FileSink(newFile: path) : Download.FileSink(path: path)
            }
            return
        }
        state.small?.discard()
        state.small = nil
        let names = names(&state)
        if state.descriptor < 0 {
            // The target is checked first: if it is not a file, nothing is fetched.
            try Download.FileSink(path: path).discard()
            state.descriptor = try names.make()
        }
        unlink(names.record)
        guard ftruncate(state.descriptor, 0) == 0, lseek(state.descriptor, 0, SEEK_SET) == 0 else {
            throw failure(errno)
        }
        let record = PartialRecord(url: url, checkpoint)
        try record.write(names.record)
        state.record = record
    }

    func write(_ bytes: [UInt8]) async throws {
        if let small = state.withLock({ $0.small }) {
            try await small.write(bytes)
            state.withLock { $0.size += Int64(bytes.count) }
            return
        }
        try bytes.withUnsafeBytes { try append($0) }
    }

    var takesDirectly: Bool { mayTakeDirectly && state.withLock { $0.small == nil } }

    func append(_ bytes: UnsafeRawBufferPointer) throws {
        try state.withLock { state in
            if state.writer == nil, isAlone, Processors.areSeveral,
                state.record?.total ?? 0 >= state.size + Self.minimumSizeBeside
            {
                state.writer = BackgroundWriter(state.descriptor)
            }
            if let writer = state.writer {
                if writer.append(bytes) != nil { try settle(&state) }
            } else {
                guard systemWriteAll(state.descriptor, bytes) else { throw failure(errno) }
            }
            let before = state.size
            state.size += Int64(bytes.count)
            if before / Self.syncInterval != state.size / Self.syncInterval { sync(&state) }
        }
    }

    /// Waits until all received bytes are in the file.
    private func settle(_ state: inout State) throws(HTTPBody.FileError) {
        guard let writer = state.writer else { return }
        state.writer = nil
        guard let code = writer.finish() else { return }
        // What was written before the failure can be continued.
        state.size = Int64(lseek(state.descriptor, 0, SEEK_CUR))
        throw failure(code)
    }

    /// Synchronizes the file, and updates the record.
    private func sync(_ state: inout State) {
        guard state.record != nil, (try? settle(&state)) != nil, fsync(state.descriptor) == 0 else { return }
        state.record?.synced = state.size
        try? state.record?.write(names(&state).record)
    }

    func startOver() async throws {
        let small = state.withLock { state in
            try? settle(&state)
            if state.descriptor >= 0 {
                unlink(names(&state).record)
                state.record = nil
                _ = ftruncate(state.descriptor, 0)
                lseek(state.descriptor, 0, SEEK_SET)
            }
            state.size = 0
            return state.small
        }
        try await small?.startOver()
    }

    func finish() throws {
        try state.withLock { state in
            if let small = state.small {
                try small.finish(freeName)
            } else if state.descriptor >= 0 {
                try settle(&state)
                try move(&state)
            } else {
                // An empty content: no response had a byte.
                try Download.FileSink(path: path).finish(freeName)
            }
            state.isDone = true
        }
    }

    private func move(_ state: inout State) throws {
        let names = names(&state)
        names.adoptMode(state.descriptor)
        // The lock is kept until the file has its name: otherwise another process would use it as a partial file.
        let lock = fcntl(state.descriptor, F_DUPFD_CLOEXEC, 0)
        defer { if lock >= 0 { close(lock) } }
        let isClosed = close(state.descriptor) == 0
        state.descriptor = -1
        guard lock >= 0, isClosed else { throw failure(errno) }
        try names.moveToTarget(lock, freeName)
    }

    /// Ends without the whole body; keeps what can be continued.
    func discard() {
        state.withLock { state in
            guard !state.isDone else { return }
            try? settle(&state)
            if state.small != nil, state.size > 0, state.lacksValidator { state.isLost = true }
            state.small?.discard()
            state.small = nil
            guard state.descriptor >= 0 else { return }
            guard state.record != nil, state.size > 0 else { return remove(&state) }
            sync(&state)
            // A process that is being started may have a copy of the descriptor, which would keep the lock.
            flock(state.descriptor, LOCK_UN)
            close(state.descriptor)
            state.descriptor = -1
        }
    }

    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        let (descriptor, size, small) = try state.withLock { state in
            try settle(&state)
            return (state.descriptor, state.size, state.small)
        }
        if let small {
            try small.readBack(body)
        } else if descriptor >= 0, !systemReadAll(descriptor, size, body) {
            throw failure(errno)
        }
        return true
    }

    /// The bytes that the file holds.
    var size: Int64 { state.withLock { $0.size } }

    /// Whether bytes are kept that a later run can continue.
    var isPartial: Bool { state.withLock { !$0.isDone && $0.record != nil && $0.size > 0 } }

    private func remove(_ state: inout State) {
        let names = names(&state)
        unlink(names.record)
        unlink(names.part)
        close(state.descriptor)
        state.descriptor = -1
        state.record = nil
    }

    private func names(_ state: inout State) -> PartialNames {
        if let names = state.names { return names }
        let names = PartialNames(path)
        state.names = names
        return names
    }

    private func failure(_ code: Int32, _ operation: HTTPBody.FileError.Operation = .write) -> HTTPBody.FileError {
        HTTPBody.FileError(path: path, operation: operation, errno: code)
    }
}
