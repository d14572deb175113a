// SPDX-License-Identifier: Apache-2.0
internal import Refrain

/// The destination of the content of one URL.
protocol ContentSink: Download.Sink {
    /// The file that is written, if one is.
    var filePath: String? { get }
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
    /// None.
    var filePath: String? { nil }
    /// Nothing to withdraw.
    func discard() {}
    /// Keeps nothing.
    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool { false }
    /// None.
    var partial: (any PartialContent)? { nil }
}

/// A body that a later run can continue.
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
    private let freeName: FreeName?
    private let size = Locked<Int64>(0)
    private let isDone = Locked(false)

    /// - Parameter freeName: its name if it replaces no file; nil: it replaces that at the path.
    init(path: String, _ freeName: FreeName? = nil) throws(HTTPBody.FileError) {
        file = try Download.FileSink(path: path)
        self.freeName = freeName
    }

    var filePath: String? { freeName?.path ?? file.path }
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
        try file.finish(freeName)
        isDone.withLock { $0 = true }
    }

    func discard() { file.discard() }

    func readBack(_ body: (UnsafeRawBufferPointer) -> Void) throws -> Bool {
        try file.readBack(body)
        return true
    }
}

/// Text for a terminal: refuses binary data, because it can change the terminal's state.
final class TerminalSink: ContentSink {
    /// The error of binary data.
    struct Refusal: Error, Hashable, CustomStringConvertible {
        let description =
            "the body is binary data, which can garble your terminal; -o FILE saves it, -O names the file by the URL, "
            + "and -o - prints it all the same"
    }

    private let inner: any ContentSink
    private let checked = Locked(0)
    /// How much is checked, in bytes, as by curl.
    private static let checkedSize = 2000

    init(_ inner: any ContentSink) { self.inner = inner }

    var delivered: Int64 { inner.delivered }
    var canStartOver: Bool { inner.canStartOver }

    /// Whether text has no such bytes.
    static func isBinary(_ bytes: [UInt8]) -> Bool {
        bytes.prefix(checkedSize).contains { byte in
            // Besides white space: the bell, the backspace and the escape of coloured text.
            byte < 0x20 && !(0x07...0x0D).contains(byte) && byte != 0x1B
        }
    }

    func write(_ bytes: [UInt8]) async throws {
        let isFirst = checked.withLock { checked in
            defer { checked += bytes.count }
            return checked < Self.checkedSize
        }
        if isFirst, Self.isBinary(bytes) { throw Refusal() }
        try await inner.write(bytes)
    }

    func startOver() async throws {
        checked.withLock { $0 = 0 }
        try await inner.startOver()
    }

    func finish() throws { try inner.finish() }
    func discard() { inner.discard() }
}

/// Memory, for bodies that are printed later.
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
