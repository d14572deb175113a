internal import Refrain

/// The destination of the content of one URL.
protocol ContentSink: Download.Sink {
    /// The bytes that cannot be withdrawn.
    var delivered: Int64 { get }
    /// Everything has arrived.
    func finish() throws
    /// Nothing more will arrive; withdraws what can be withdrawn.
    func discard()
    /// Passes on the bytes so far, before it is finished; false if they are not kept.
    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool
    /// The sink, if a later run can continue its content. (A requirement, because a cast is slow.)
    var partial: (any PartialContent)? { get }
}

extension ContentSink {
    /// Nothing to withdraw.
    func discard() {}
    /// Keeps nothing.
    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool { false }
    /// None.
    var partial: (any PartialContent)? { nil }
}

/// A content that a later run can continue.
protocol PartialContent: ContentSink {
    /// A message about what an earlier run has left; nil: none.
    var remark: String? { get }
    /// The bytes that are stored.
    var size: Int64 { get }
    /// Whether bytes are kept that a later run can continue.
    var isPartial: Bool { get }
    /// The download into a sink that passes the content on to this one, from where an earlier run stopped.
    func download(to sink: any Download.Sink) -> Download
}

extension PartialContent {
    var partial: (any PartialContent)? { self }
}

/// A file that is written atomically.
final class FileContentSink: ContentSink {
    private let file: Download.FileSink
    private let size = Locked<Int64>(0)
    private let isDone = Locked(false)

    init(path: String) throws(HTTPBody.FileError) { file = try Download.FileSink(path: path) }

    var delivered: Int64 { isDone.withLock { $0 } ? size.withLock { $0 } : 0 }

    func write(_ bytes: [UInt8]) async throws {
        try await file.write(bytes)
        size.withLock { $0 += Int64(bytes.count) }
    }

    func startOver() async throws {
        try await file.startOver()
        size.withLock { $0 = 0 }
    }

    func finish() throws {
        try file.finish()
        isDone.withLock { $0 = true }
    }

    func discard() { file.discard() }

    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        try file.readBack(body)
        return true
    }
}

/// Memory, for contents that are printed later.
final class MemorySink: ContentSink {
    private let content = Locked<[UInt8]>([])

    /// What has arrived.
    var bytes: [UInt8] { content.withLock { $0 } }
    var delivered: Int64 { 0 }

    func write(_ bytes: [UInt8]) async throws { content.withLock { $0 += bytes } }
    func startOver() async throws { content.withLock { $0 = [] } }
    func finish() throws {}
}

/// Discards the content.
final class NoSink: ContentSink {
    private let size = Locked<Int64>(0)
    private let isDone = Locked(false)

    var delivered: Int64 { isDone.withLock { $0 } ? size.withLock { $0 } : 0 }

    func write(_ bytes: [UInt8]) async throws { size.withLock { $0 += Int64(bytes.count) } }
    func startOver() async throws { size.withLock { $0 = 0 } }
    func finish() throws { isDone.withLock { $0 = true } }
}
