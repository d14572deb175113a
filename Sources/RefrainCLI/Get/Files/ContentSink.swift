internal import Refrain

/// Where the content of one URL goes.
protocol ContentSink: DownloadSink {
    /// The bytes that cannot be taken back any more.
    var delivered: Int64 { get }
    /// Everything has arrived.
    func finish() throws
    /// Nothing more will arrive: what can be taken back is.
    func discard()
}

extension ContentSink {
    /// Nothing to take back.
    func discard() {}
}

/// A file that appears when it is whole.
final class FileContentSink: ContentSink {
    private let file: FileSink
    private let size = Locked<Int64>(0)
    private let isDone = Locked(false)

    init(path: String) throws(LocalFileError) { file = try FileSink(path: path) }

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

/// Nowhere.
final class NoSink: ContentSink {
    private let size = Locked<Int64>(0)
    private let isDone = Locked(false)

    var delivered: Int64 { isDone.withLock { $0 } ? size.withLock { $0 } : 0 }

    func write(_ bytes: [UInt8]) async throws { size.withLock { $0 += Int64(bytes.count) } }
    func startOver() async throws { size.withLock { $0 = 0 } }
    func finish() throws { isDone.withLock { $0 = true } }
}
