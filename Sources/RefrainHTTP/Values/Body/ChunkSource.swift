// SPDX-License-Identifier: Apache-2.0
/// A type-erased iterator over the chunks of a body.
package final class ChunkSource: @unchecked Sendable {
    // @unchecked Sendable: a source has one reader at a time. `OneShotSource` enforces that for sources that outlive a
    // reader; all others are made for one reader.
    private let pull: () async throws -> HTTPBody.Chunk?
    /// Hands over all bytes as they arrive; nil where the source has only chunks.
    private let drainer: ((@escaping ByteConsumer) async throws -> Void)?

    /// Takes bytes where they arrive, on the thread of the transport; false ends the exchange.
    package typealias ByteConsumer = @Sendable (UnsafeRawBufferPointer) -> Bool

    package init(
        _ pull: @escaping () async throws -> HTTPBody.Chunk?,
        drain: ((@escaping ByteConsumer) async throws -> Void)? = nil
    ) {
        self.pull = pull
        drainer = drain
    }

    package convenience init<Chunks: AsyncSequence>(_ chunks: Chunks) where Chunks.Element == HTTPBody.Chunk {
        // nonisolated(unsafe): the iterator stays with this source, which has one reader at a time.
        nonisolated(unsafe) var iterator = chunks.makeAsyncIterator()
        self.init {
            let chunk = try await iterator.next(isolation: #isolation)
            // Most sequences end where their task is cancelled, which is not the end of the body (rule R10).
            if chunk == nil { try Task.checkCancellation() }
            return chunk
        }
    }

    package func next() async throws -> HTTPBody.Chunk? { try await pull() }

    fileprivate var canBeDrained: Bool { drainer != nil }
    fileprivate func drain(into consumer: @escaping ByteConsumer) async throws { try await drainer?(consumer) }
}

/// A source that can be read once, and records whether reading has begun.
package final class OneShotSource: Sendable {
    package let length: Int64?
    private let source: ChunkSource
    private let state = Locked(State())

    private struct State {
        var wasPulled = false
        var reader = 0
        var isPulling = false
        var attempts: [AttemptRecord] = []
    }

    package init(length: Int64?, _ source: ChunkSource) {
        self.length = length
        self.source = source
    }

    /// Whether a chunk was requested.
    ///
    /// A chunk requested by a reader that has ended is lost, even if no byte was read.
    package var wasPulled: Bool { state.withLock { $0.wasPulled } }

    /// Makes an identifier for a new reader, and invalidates the previous reader.
    package func makeReader() -> Int {
        state.withLock { state in
            // A body that is being read keeps its reader; a later one gets an error rather than a truncated body.
            guard !state.wasPulled else { return -1 }
            state.reader += 1
            return state.reader
        }
    }

    /// Returns the next chunk for a reader.
    package func next(for reader: Int) async throws -> HTTPBody.Chunk? {
        let mayPull = state.withLock { state in
            guard state.reader == reader, !state.isPulling else { return false }
            state.isPulling = true
            state.wasPulled = true
            return true
        }
        guard mayPull else { throw HTTPBody.ReadTwice() }
        defer { state.withLock { $0.isPulling = false } }
        do {
            return try await source.next()
        } catch let error as HTTPError {
            throw recorded(error)
        }
    }

    /// Notes the attempts of the call that the body belongs to, for the error of its source (rule R29).
    func record(_ attempts: [AttemptRecord]) { state.withLock { $0.attempts = attempts } }

    private func recorded(_ error: HTTPError) -> HTTPError {
        var attempts = state.withLock { $0.attempts }
        guard let last = attempts.indices.last else { return error }
        // The head of the response had come; this is how its attempt ended.
        attempts[last].error = error.code
        var error = error
        error.attempts = attempts
        return error
    }

    /// Whether the bytes can be had where they arrive.
    package var canBeDrained: Bool { source.canBeDrained }

    /// Hands all bytes to a consumer as they arrive, without a copy.
    ///
    /// Does nothing where ``canBeDrained`` is false.
    package func drain(_ consumer: @escaping ChunkSource.ByteConsumer) async throws {
        let mayPull = state.withLock { state in
            guard !state.wasPulled else { return false }
            (state.wasPulled, state.isPulling) = (true, true)
            return true
        }
        guard mayPull else { throw HTTPBody.ReadTwice() }
        do {
            try await source.drain(into: consumer)
        } catch let error as HTTPError {
            throw recorded(error)
        }
    }
}

extension HTTPBody {
    /// Thrown when a one-shot body is read a second time.
    public struct ReadTwice: Error, Hashable, Sendable, CustomStringConvertible {
        /// A sentence that describes the error and its remedy.
        public var description: String {
            "a body that can be read only once was read a second time; collect its bytes first"
        }
    }
}
