internal import RefrainCore

/// Carries bytes from one writer to one reader, a bounded amount at a time.
///
/// Each of them is either a task, which waits, or a thread that serves others too, which is called back instead: a
/// transport writes the bodies of responses as a thread, and reads those of requests as one.
package final class ByteChannel: Sendable {
    /// The size at which what a thread writes is cut into chunks; at most the difference of the two limits.
    static let chunkSize = 64 << 10

    /// The writer has to wait when this much is held.
    let highWater: Int
    /// It goes on when no more than this is held.
    let lowWater: Int
    let state = Locked(State())

    /// Makes a channel that holds up to 256 KB and one piece more.
    ///
    /// - Parameters:
    ///   - highWater: at how many held bytes the writer has to wait.
    ///   - lowWater: at how many it goes on.
    package init(highWater: Int = 256 << 10, lowWater: Int = 64 << 10) {
        self.highWater = highWater
        self.lowWater = lowWater
    }

    /// Ends the bytes, with or without an error; what is held can still be read.
    package func finish(_ error: HTTPError? = nil) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let (wakeup, reader) = state.withLock { state -> (Wakeup, Reader?) in
            if state.end == nil { state.end = end }
            state.consumer = nil
            return (state.takeWakeup(), state.takeReader())
        }
        wakeup.carryOut()
        reader?.resume(returning: end.map { nil })
    }

    /// Drops what is held, and takes no more: there is no reader any longer.
    package func close() {
        let writer = state.withLock { state in
            state.drop()
            state.isClosed = true
            state.onData = nil
            return state.takeWriter()
        }
        writer?.resume(returning: false)
    }

    /// Whether ``close()`` was called.
    package var isClosed: Bool { state.withLock { $0.isClosed } }

    /// Whether everything was written and read.
    package var isDrained: Bool { state.withLock { $0.end != nil && $0.held == 0 } }
}

extension ByteChannel {
    /// How the reader is woken, if it waits; carried out without the lock.
    struct Wakeup {
        var delivery: (to: Reader, chunk: HTTPBody.Chunk)?
        var onData: (@Sendable () -> Void)?

        func carryOut() {
            if let delivery { delivery.to.resume(returning: .success(delivery.chunk)) }
            onData?()
        }
    }

    typealias Reader = UnsafeContinuation<Result<HTTPBody.Chunk?, HTTPError>, Never>
    typealias Writer = UnsafeContinuation<Bool, Never>

    struct State {
        private var chunks: [HTTPBody.Chunk] = []
        private var first = 0
        /// How much of the first chunk was read.
        private var offset = 0
        /// How many bytes can be read.
        private(set) var held = 0
        /// How many bytes were written in all.
        private(set) var written = 0
        var end: Result<Void, HTTPError>?
        var isClosed = false
        /// A task that waits for bytes.
        var reader: Reader?
        /// Whether the thread that writes is about to wake it.
        var readerIsNoted = false
        /// Takes what a thread writes instead of the chunks.
        var consumer: ChunkSource.ByteConsumer?
        /// Tells the thread that reads of bytes, if it waits for any.
        var onData: (@Sendable () -> Void)?
        var readerIsToldOfData = false
        /// A task that waits for room.
        var writer: Writer?
        /// Whether the writing thread must be notified of room.
        var sourceWaits = false

        /// Adds a chunk.
        mutating func add(_ chunk: HTTPBody.Chunk) {
            held += chunk.count
            written += chunk.count
            chunks.append(chunk)
        }

        /// Adds a piece to the last chunk, or begins one with it.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) {
            held += bytes.count
            written += bytes.count
            if !isFirst, let last = chunks.indices.last, last >= first {
                chunks[last].append(contentsOf: bytes)
                return
            }
            var chunk = HTTPBody.Chunk()
            // Where much comes at a time, more is on its way.
            chunk.reserveCapacity(bytes.count < chunkSize / 4 ? bytes.count : chunkSize)
            chunk.append(contentsOf: bytes)
            chunks.append(chunk)
        }

        /// Takes the first chunk.
        mutating func popFirst() -> HTTPBody.Chunk? {
            guard first < chunks.count else { return nil }
            let chunk = chunks[first]
            removeFirst()
            held -= chunk.count
            return chunk
        }

        /// Moves bytes into a buffer that has room for them, `count` of those that are held.
        mutating func move(_ count: Int, to buffer: UnsafeMutableRawBufferPointer) {
            var moved = 0
            while moved < count {
                let piece = min(chunks[first].count - offset, count - moved)
                chunks[first].withUnsafeBytes { bytes in
                    UnsafeMutableRawBufferPointer(rebasing: buffer[moved...])
                        .copyMemory(from: UnsafeRawBufferPointer(rebasing: bytes[offset..<offset + piece]))
                }
                moved += piece
                offset += piece
                if offset == chunks[first].count { removeFirst() }
            }
            held -= count
        }

        /// Drops what is held.
        mutating func drop() {
            chunks = []
            (first, offset, held) = (0, 0, 0)
        }

        private mutating func removeFirst() {
            chunks[first] = []
            first += 1
            offset = 0
            guard first == chunks.count else { return }
            chunks.removeAll(keepingCapacity: true)
            first = 0
        }

        /// Wakes the reader for the bytes that have come.
        mutating func takeWakeup() -> Wakeup {
            var wakeup = Wakeup()
            if reader != nil, let chunk = popFirst() { wakeup.delivery = takeReader().map { ($0, chunk) } }
            if readerIsToldOfData { (wakeup.onData, readerIsToldOfData) = (onData, false) }
            return wakeup
        }

        mutating func takeReader() -> Reader? {
            defer { reader = nil }
            return reader
        }

        mutating func takeWriter() -> Writer? {
            defer { writer = nil }
            return writer
        }

        /// Whether the writing thread waits for room, and will be notified.
        mutating func takeSource() -> Bool {
            defer { sourceWaits = false }
            return sourceWaits
        }
    }
}
