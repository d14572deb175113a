/// Chunks that are pulled one after the other: the iterator of a body, whatever it stands on.
package final class ChunkSource: @unchecked Sendable {
    // @unchecked Sendable: a source is pulled by one reader at a time. `OneShotSource` enforces that for sources that
    // outlive a reader; all others are made for one reader, and stay with it.
    private let pull: () async throws -> HTTPBody.Chunk?

    package init(_ pull: @escaping () async throws -> HTTPBody.Chunk?) { self.pull = pull }

    package convenience init<Chunks: AsyncSequence>(_ chunks: Chunks) where Chunks.Element == HTTPBody.Chunk {
        // nonisolated(unsafe): the iterator stays with this source, which has one reader at a time.
        nonisolated(unsafe) var iterator = chunks.makeAsyncIterator()
        self.init { try await iterator.next() }
    }

    package func next() async throws -> HTTPBody.Chunk? { try await pull() }
}

/// A source that has only one life, and knows whether any of it is spent.
package final class OneShotSource: Sendable {
    package let length: Int64?
    private let source: ChunkSource
    private let state = Locked(State())

    private struct State {
        var wasPulled = false
        var reader = 0
        var isPulling = false
    }

    package init(length: Int64?, _ source: ChunkSource) {
        self.length = length
        self.source = source
    }

    /// Whether anybody has asked for a chunk, which may come after he has gone: then it is lost, with no byte read.
    package var wasPulled: Bool { state.withLock { $0.wasPulled } }

    /// A ticket for a new reader; the reader before it is turned away from then on.
    package func makeReader() -> Int {
        state.withLock { state in
            // A body that has been read keeps its reader: whoever comes later is told so, instead of missing the start.
            guard !state.wasPulled else { return -1 }
            state.reader += 1
            return state.reader
        }
    }

    /// The next chunk for the reader with this ticket.
    package func next(for reader: Int) async throws -> HTTPBody.Chunk? {
        let mayPull = state.withLock { state in
            guard state.reader == reader, !state.isPulling else { return false }
            state.isPulling = true
            state.wasPulled = true
            return true
        }
        guard mayPull else { throw BodyReadTwice() }
        defer { state.withLock { $0.isPulling = false } }
        return try await source.next()
    }
}

/// A body that can be read only once was read a second time.
public struct BodyReadTwice: Error, Hashable, Sendable, CustomStringConvertible {
    /// What happened, and what to do.
    public var description: String {
        "a body that can be read only once was read a second time; collect its bytes first"
    }
}
