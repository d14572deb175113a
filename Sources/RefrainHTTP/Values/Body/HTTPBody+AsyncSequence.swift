#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

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
        if case .bytes(let bytes) = storage {
            guard bytes.count <= maximum else { throw TooLarge(limit: maximum) }
            return Array(bytes)
        }
        var collected: [UInt8] = []
        for try await chunk in self {
            // Compares the chunk first, so that the subtraction cannot overflow for any limit.
            guard chunk.count <= maximum, collected.count <= maximum - chunk.count else {
                throw TooLarge(limit: maximum)
            }
            collected += chunk
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
    public struct TooLarge: Error, Hashable, Sendable, CustomStringConvertible {
        /// The limit in bytes.
        public let limit: Int
        /// A sentence with the limit.
        public var description: String { "the body is larger than \(limit) bytes" }
    }
}
