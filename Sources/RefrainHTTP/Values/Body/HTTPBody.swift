// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
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
        var text = text
        return HTTPBody(.bytes(text.withUTF8 { Data($0) }), contentType: contentType)
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

extension HTTPBody: AsyncSequence {
    /// One piece of the body.
    public typealias Element = Chunk

    /// Starts to read the body.
    ///
    /// A replayable body is read from its beginning each time. A one-shot body that has been read throws
    /// ``HTTPBody/ReadTwice``.
    public func makeAsyncIterator() -> Iterator { Iterator(storage) }

    /// Reads a body chunk by chunk.
    public struct Iterator: AsyncIteratorProtocol {
        private var state: State

        private enum State {
            case bytes(Data)
            case unopened(@Sendable () throws -> ChunkSource)
            case source(ChunkSource)
            case oneShot(OneShotSource, reader: Int)
            case ended
        }

        init(_ storage: Storage) {
            switch storage {
            case .bytes(let bytes): state = bytes.isEmpty ? .ended : .bytes(bytes)
            case .file(let path): state = .unopened { try FileChunks(path: path).source }
            case .restartable(_, let make): state = .unopened(make)
            case .oneShot(let source): state = .oneShot(source, reader: source.makeReader())
            }
        }

        /// Returns the next chunk, or nil at the end.
        public mutating func next() async throws -> Chunk? {
            switch state {
            case .bytes(let bytes):
                state = .ended
                return Chunk(bytes)
            case .unopened(let make):
                let source = try make()
                state = .source(source)
                return try await pull(source)
            case .source(let source):
                return try await pull(source)
            case .oneShot(let source, let reader):
                return try await source.next(for: reader)
            case .ended:
                return nil
            }
        }

        private mutating func pull(_ source: ChunkSource) async throws -> Chunk? {
            let chunk = try await source.next()
            if chunk == nil { state = .ended }
            return chunk
        }
    }

    /// Reads all bytes of the body.
    ///
    /// - Parameter maximum: the maximum number of bytes. Defaults to no limit.
    /// - Throws: ``HTTPBody/TooLarge`` if the body is larger, and the errors of the body's source.
    public func collect(upTo maximum: Int = .max) async throws -> [UInt8] {
        try await collect(upTo: maximum) { _ in }
    }

    /// Reads all bytes of the body; `progress` receives their number after each chunk.
    func collect(upTo maximum: Int, progress: (Int) -> Void) async throws -> [UInt8] {
        if case .bytes(let bytes) = storage {
            guard bytes.count <= maximum else { throw TooLarge(limit: maximum) }
            if !bytes.isEmpty { progress(bytes.count) }
            return Array(bytes)
        }
        var collected: [UInt8] = []
        for try await chunk in self {
            // Compares the chunk first, so that the subtraction cannot overflow for any limit.
            guard chunk.count <= maximum, collected.count <= maximum - chunk.count else {
                throw TooLarge(limit: maximum)
            }
            collected += chunk
            progress(collected.count)
        }
        return collected
    }

    /// A copy of the bytes if they are in memory; nil for files and streams.
    ///
    /// ``HTTPResponse/data`` returns them without a copy.
    public var bytesInMemory: [UInt8]? { dataInMemory.map { Array($0) } }

    /// The bytes if they are in memory, without a copy.
    package var dataInMemory: Data? {
        if case .bytes(let bytes) = storage { return bytes }
        return nil
    }
}

extension HTTPBody: ReplayableSequence {
    package var canReplay: Bool { replayability == .none || replayability == .replayable }
}

extension HTTPBody {
    /// Thrown when a body exceeds the limit of its reader.
    public struct TooLarge: LocalizedError, Hashable, Sendable, CustomStringConvertible {
        /// The limit in bytes.
        public let limit: Int
        /// A sentence with the limit.
        public var description: String { "the body is larger than \(limit) bytes" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }
}

extension JSONEncoder {
    /// An encoder that gives equal values equal bytes.
    fileprivate static var withSortedKeys: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}

extension HTTPBody {
    /// A body with a value encoded as JSON (RFC 8259), sent as `application/json`.
    ///
    /// - Parameters:
    ///   - value: the value.
    ///   - encoder: the encoder. Defaults to one with sorted keys. One that does not sort them has members in another
    ///     order each time, so that a body that is made again is another one, with another generated key.
    /// - Throws: the errors of the encoder.
    public static func json(_ value: some Encodable, encoder: JSONEncoder? = nil) throws -> HTTPBody {
        .data(try (encoder ?? .withSortedKeys).encode(value), contentType: "application/json")
    }

    /// A body of Foundation's `Data`.
    public static func data(_ data: Data, contentType: String? = nil) -> HTTPBody {
        .bytes(data, contentType: contentType)
    }
}

extension HTTPBody {
    /// Names and values encoded as a web form, `application/x-www-form-urlencoded`.
    ///
    /// The encoding follows the WHATWG URL Standard §5.2: UTF-8, with a space as `+`, and all characters but letters,
    /// digits, `*`, `-`, `.` and `_` percent-encoded. Names may repeat; the order is kept.
    public static func form(_ fields: [(name: String, value: String)]) -> HTTPBody {
        .bytes(FormEncoding.encode(fields), contentType: "application/x-www-form-urlencoded")
    }
}

/// The serializer of `application/x-www-form-urlencoded` (WHATWG URL Standard §5.2).
private enum FormEncoding {
    static func encode(_ fields: [(name: String, value: String)]) -> [UInt8] {
        var bytes: [UInt8] = []
        for (index, field) in fields.enumerated() {
            if index > 0 { bytes.append(UInt8(ascii: "&")) }
            append(field.name, to: &bytes)
            bytes.append(UInt8(ascii: "="))
            append(field.value, to: &bytes)
        }
        return bytes
    }

    private static func append(_ text: String, to bytes: inout [UInt8]) {
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: " "):
                bytes.append(UInt8(ascii: "+"))
            case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "*"), UInt8(ascii: "-"), UInt8(ascii: "."),
                UInt8(ascii: "_"):
                bytes.append(byte)
            default:
                bytes += [UInt8(ascii: "%"), hexDigit(byte >> 4), hexDigit(byte & 15)]
            }
        }
    }

    private static func hexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}

extension ByteChannel {
    /// What the reader of a response's body does to the exchange that it comes from.
    package protocol Source: AnyObject, Sendable {
        /// Goes on: there is room again.
        func resume()
        /// Ends the exchange: the task of the reader was cancelled.
        func cancel()
        /// Ends the exchange: the body will not be read.
        func discard()
    }

    /// The body that its reader gets; deallocating it discards the rest.
    package func body(length: Int64?, from source: any Source) -> HTTPBody {
        let reader = BodyReader(channel: self, source: source)
        let chunks = ChunkSource({ try await reader.next() }, drain: { try await reader.drain($0) })
        return HTTPBody(.oneShot(OneShotSource(length: length, chunks)))
    }
}

/// Reads a response's body.
///
/// It holds the source, and with it the transport, which must outlive a streamed body.
private final class BodyReader: Sendable {
    private let channel: ByteChannel
    private let source: any ByteChannel.Source

    init(channel: ByteChannel, source: any ByteChannel.Source) {
        self.channel = channel
        self.source = source
    }

    deinit { source.discard() }

    func next() async throws(HTTPError) -> HTTPBody.Chunk? {
        try await channel.next(resume: { source.resume() }, onCancel: { source.cancel() })
    }

    func drain(_ consumer: @escaping ChunkSource.ByteConsumer) async throws(HTTPError) {
        let result: Result<Void, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) {
                return .success(try await channel.drain(consumer) { source.resume() })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            source.cancel()
        }
        try result.get()
    }
}

extension URL {
    /// The path of a local file.
    ///
    /// A URL of another scheme is the name of no file: its path must not be taken for one on this machine.
    package var localPath: String {
        scheme == nil || isFileURL ? path(percentEncoded: false) : absoluteString
    }
}
