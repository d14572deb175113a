#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What a request or a response carries: a sequence of chunks of bytes.
///
/// A body says whether it can be replayed. Bytes, files and streams made by a factory can; a one-shot stream cannot,
/// once a byte of it has been read. A one-shot body is never refused on the first try, and never sent twice (rule R4).
public struct HTTPBody: Sendable {
    /// One piece of a body.
    public typealias Chunk = [UInt8]

    /// Where the bytes come from.
    package let storage: Storage

    /// The media type that belongs to these bytes, sent as `Content-Type` where the request has none.
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

    /// No bytes at all.
    public static let empty = HTTPBody(.bytes(Data()))

    /// Bytes in memory.
    ///
    /// Whole `Data` is kept, and not copied; a slice of it is copied.
    public static func bytes(_ bytes: some Sequence<UInt8>, contentType: String? = nil) -> HTTPBody {
        // A slice does not begin at index 0, as those who read a response's data may rely on, and keeps all the rest.
        let whole = (bytes as? Data).flatMap { $0.startIndex == 0 ? $0 : nil }
        return HTTPBody(.bytes(whole ?? Data(bytes)), contentType: contentType)
    }

    /// Text, as UTF-8.
    public static func text(_ text: String, contentType: String? = "text/plain; charset=utf-8") -> HTTPBody {
        HTTPBody(.bytes(Data(text.utf8)), contentType: contentType)
    }

    /// A local file, read anew for each try, as long as it is at that moment.
    public static func file(_ path: String, contentType: String? = nil) -> HTTPBody {
        HTTPBody(.file(path: path), contentType: contentType)
    }

    /// A stream that can be started again: the factory is called once for each try.
    ///
    /// - Parameters:
    ///   - length: the number of bytes, if it is known. A stream that delivers another number fails the request.
    ///   - contentType: the media type.
    ///   - makeStream: makes the sequence from its beginning.
    public static func stream<Chunks: AsyncSequence & SendableMetatype>(
        length: Int64? = nil,
        contentType: String? = nil,
        _ makeStream: @escaping @Sendable () throws -> Chunks
    ) -> HTTPBody where Chunks.Element == Chunk {
        HTTPBody(.restartable(length: length) { ChunkSource(try makeStream()) }, contentType: contentType)
    }

    /// A stream that can be read only once.
    public static func oneShot<Chunks: AsyncSequence>(
        _ stream: sending Chunks,
        length: Int64? = nil,
        contentType: String? = nil
    ) -> HTTPBody where Chunks.Element == Chunk {
        HTTPBody(.oneShot(OneShotSource(length: length, ChunkSource(stream))), contentType: contentType)
    }

    /// The number of bytes, where it is known without reading.
    ///
    /// For a file it is known only when it is sent.
    public var length: Int64? {
        switch storage {
        case .bytes(let bytes): Int64(bytes.count)
        case .file: nil
        case .restartable(let length, _): length
        case .oneShot(let source): source.length
        }
    }

    /// Whether there is nothing to send.
    public var isEmpty: Bool {
        if case .bytes(let bytes) = storage { return bytes.isEmpty }
        return length == 0
    }

    /// What a retry needs to know of the body (rule R4).
    public var replayability: Replayability {
        if isEmpty { return .none }
        switch storage {
        case .bytes, .file, .restartable: return .replayable
        case .oneShot(let source): return source.wasPulled ? .onceAndRead : .once
        }
    }

    /// Whether the body can be sent again, and why not.
    public enum Replayability: String, Hashable, Sendable, Codable, CaseIterable {
        /// There is no body; nothing stands in the way.
        case none
        /// The bytes can be had again from the start.
        case replayable
        /// The bytes can be had only once, and nobody has asked for any of them yet.
        case once
        /// The bytes could be had only once, and some were asked for: they may be gone, though none was read.
        case onceAndRead = "once-read"
    }
}
