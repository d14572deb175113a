#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The body of a request or a response: an asynchronous sequence of chunks of bytes.
///
/// Bytes, files and streams made by a factory are replayable. A one-shot stream is not replayable once a chunk was
/// requested; it is sent at most once.
public struct HTTPBody: Sendable {
    /// One piece of a body.
    public typealias Chunk = [UInt8]

    /// The source of the bytes.
    package let storage: Storage

    /// The media type, sent as `Content-Type` if the request has no such field.
    public var contentType: String?

    package enum Storage: Sendable {
        case bytes(Data)
        case file(path: String)
        case restartable(length: Int64?, @Sendable () throws -> ChunkSource)
        case oneShot(OneShotSource)
    }

    package init(_ storage: Storage, contentType: String? = nil) {
        self.storage = storage
        self.contentType = contentType
    }

    /// An empty body.
    public static let empty = HTTPBody(.bytes(Data()))

    /// A body of bytes in memory.
    ///
    /// A `Data` is stored without a copy; a slice of one is copied.
    public static func bytes(_ bytes: some Sequence<UInt8>, contentType: String? = nil) -> HTTPBody {
        // A slice keeps all of its base in memory, and its indices do not begin at 0, which readers of a response's
        // data may rely on.
        let data = (bytes as? Data).flatMap { $0.startIndex == 0 ? $0 : nil }
        return HTTPBody(.bytes(data ?? Data(bytes)), contentType: contentType)
    }

    /// A body of text in UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> HTTPBody {
        HTTPBody(.bytes(Data(text.utf8)), contentType: contentType)
    }

    /// A body read from a local file.
    ///
    /// Each attempt reads the file again, with its length at that time.
    public static func file(_ path: String, contentType: String? = nil) -> HTTPBody {
        HTTPBody(.file(path: path), contentType: contentType)
    }

    /// A body streamed from a sequence that `makeStream` makes again for each attempt.
    ///
    /// - Parameters:
    ///   - length: the number of bytes, if known. A stream of another length fails the request. With a length of 0
    ///     there is no body, and the stream is not read.
    ///   - contentType: the media type.
    ///   - makeStream: makes the sequence from its beginning.
    public static func stream<Chunks: AsyncSequence & SendableMetatype>(
        length: Int64? = nil,
        contentType: String? = nil,
        _ makeStream: @escaping @Sendable () throws -> Chunks
    ) -> HTTPBody where Chunks.Element == Chunk {
        HTTPBody(.restartable(length: length) { ChunkSource(try makeStream()) }, contentType: contentType)
    }

    /// A body streamed from a sequence that can be read only once.
    public static func oneShot<Chunks: AsyncSequence>(
        _ stream: sending Chunks,
        length: Int64? = nil,
        contentType: String? = nil
    ) -> HTTPBody where Chunks.Element == Chunk {
        HTTPBody(.oneShot(OneShotSource(length: length, ChunkSource(stream))), contentType: contentType)
    }

    /// The number of bytes, if known without reading; nil for a file, whose length is determined when it is sent.
    public var length: Int64? {
        switch storage {
        case .bytes(let bytes): Int64(bytes.count)
        case .file: nil
        case .restartable(let length, _): length
        case .oneShot(let source): source.length
        }
    }

    /// Whether the body is empty.
    public var isEmpty: Bool {
        if case .bytes(let bytes) = storage { return bytes.isEmpty }
        return length == 0
    }

    /// Whether the body can be sent again.
    public var replayability: Replayability {
        if isEmpty { return .none }
        switch storage {
        case .bytes, .file, .restartable: return .replayable
        case .oneShot(let source): return source.wasPulled ? .onceAndRead : .once
        }
    }

    /// Whether a body can be sent again, and the reason if not.
    public enum Replayability: String, Hashable, Sendable, Codable, CaseIterable {
        /// There is no body.
        case none
        /// The bytes can be read again from the beginning.
        case replayable
        /// The bytes can be read once, and no chunk was requested yet.
        case once
        /// The bytes could be read once, and a chunk was requested; bytes may be lost.
        case onceAndRead = "once-read"
    }
}
