internal import RefrainCore

/// Carries a response's body from a transport to its reader, a bounded amount at a time.
package final class BodyPipe: Sendable {
    /// The transport has to wait when this much is held.
    package static let highWater = 256 << 10
    /// The transport goes on when no more than this is held.
    package static let lowWater = 64 << 10
    /// What arrives is handed over in chunks of this size at most; less than the difference of the two above.
    private static let chunkSize = 64 << 10

    private let state = Locked(State())

    private typealias Reader = UnsafeContinuation<Result<HTTPBody.Chunk?, HTTPError>, Never>

    private struct State {
        var chunks: [HTTPBody.Chunk] = []
        var first = 0
        var held = 0
        /// How many bytes have come in all.
        var position = 0
        var transportWaits = false
        var end: Result<Void, HTTPError>?
        var reader: Reader?
        /// Takes what arrives instead of the chunks.
        var consumer: ChunkSource.ByteConsumer?
        /// Whether the transport will wake the reader.
        var readerIsNoted = false

        /// Adds a piece to the last chunk, or begins one with it.
        mutating func add(_ bytes: UnsafeRawBufferPointer, isFirst: Bool) {
            held += bytes.count
            position += bytes.count
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

        mutating func popFirst() -> HTTPBody.Chunk? {
            guard first < chunks.count else { return nil }
            let chunk = chunks[first]
            chunks[first] = []
            first += 1
            held -= chunk.count
            if first == chunks.count {
                chunks.removeAll(keepingCapacity: true)
                first = 0
            }
            return chunk
        }

        /// What the reader gets without waiting, if anything, and whether the transport goes on then.
        mutating func takeReady() -> (ready: Result<HTTPBody.Chunk?, HTTPError>?, mustResume: Bool) {
            guard let chunk = popFirst() else { return (end.map { $0.map { nil } }, false) }
            let mustResume = transportWaits && held <= lowWater
            if mustResume { transportWaits = false }
            return (.success(chunk), mustResume)
        }
    }

    /// What the reader's side does to the transport.
    package protocol Source: AnyObject, Sendable {
        /// Goes on: there is room again.
        func resume()
        /// Ends the exchange: the task of the reader was cancelled.
        func cancel()
        /// Ends the exchange: the body will not be read.
        func discard()
    }

    package init() {}

    /// The body that its reader gets; deallocating it discards the rest.
    package func body(length: Int64?, from source: any Source) -> HTTPBody {
        let reader = BodyReader(pipe: self, source: source)
        let chunks = ChunkSource({ try await reader.next() }, drain: { try await reader.drain($0) })
        return HTTPBody(.oneShot(OneShotSource(length: length, chunks)))
    }

    // MARK: On the transport's side

    /// Whether more may be appended; if not, the source is resumed when it may.
    package var hasRoom: Bool {
        state.withLock { state in
            if state.held < Self.highWater { return true }
            state.transportWaits = true
            return false
        }
    }

    /// Gives a piece to the reader's consumer: whether it has taken the piece, or nil where there is no consumer.
    package func consume(_ bytes: UnsafeRawBufferPointer) -> Bool? {
        state.withLock { $0.consumer }.map { $0(bytes) }
    }

    /// Takes a piece; true where a reader waits, which ``wakeReader()`` then wakes.
    ///
    /// Not at once: mostly more pieces follow soon, and it would be woken for each of them.
    package func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            var rest = bytes[...]
            while !rest.isEmpty {
                // A chunk ends at a multiple of its size: whole pages of a file are written at twice the speed.
                let space = Self.chunkSize - state.position % Self.chunkSize
                let piece = UnsafeRawBufferPointer(rebasing: rest.prefix(space))
                rest = rest.dropFirst(space)
                state.add(piece, isFirst: space == Self.chunkSize)
            }
            guard state.reader != nil, !state.readerIsNoted else { return false }
            state.readerIsNoted = true
            return true
        }
    }

    /// Hands the first chunk to the reader that waits.
    ///
    /// The transport need not go on for that: if it had to stop, more than one chunk is held.
    package func wakeReader() {
        let (reader, chunk) = state.withLock { state -> (Reader?, HTTPBody.Chunk?) in
            state.readerIsNoted = false
            guard let reader = state.reader, let chunk = state.popFirst() else { return (nil, nil) }
            state.reader = nil
            return (reader, chunk)
        }
        reader?.resume(returning: .success(chunk))
    }

    /// Ends the body, with or without an error.
    package func finish(_ error: HTTPError?) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let (reader, chunk) = state.withLock { state -> (Reader?, HTTPBody.Chunk?) in
            state.end = end
            state.consumer = nil
            guard let reader = state.reader else { return (nil, nil) }
            state.reader = nil
            return (reader, state.popFirst())
        }
        reader?.resume(returning: chunk.map { .success($0) } ?? end.map { nil })
    }

    // MARK: On the reader's side

    /// The next chunk, or nil at the end, where that is known already; `resume` is called where the transport waits for
    /// room.
    package func ready(resume: () -> Void) -> Result<HTTPBody.Chunk?, HTTPError>? {
        let (ready, mustResume) = state.withLock { $0.takeReady() }
        if mustResume { resume() }
        return ready
    }

    /// The next chunk, nil at the end; `resume` is called where the transport waits for room.
    package func next(resume: () -> Void) async throws(HTTPError) -> HTTPBody.Chunk? {
        let result = await resumption { (continuation: Reader) in
            let (ready, mustResume) = state.withLock { state -> (Result<HTTPBody.Chunk?, HTTPError>?, Bool) in
                let result = state.takeReady()
                if result.ready == nil { state.reader = continuation }
                return result
            }
            if mustResume { resume() }
            if let ready { continuation.resume(returning: ready) }
        }
        return try result.get()
    }

    /// Gives everything to a consumer: first what is held, here, and then what arrives, on the transport's thread.
    ///
    /// - Returns: at the end of the body, or when the consumer has taken a piece of what was held no longer.
    package func drain(_ consumer: @escaping ChunkSource.ByteConsumer, resume: () -> Void) async throws(HTTPError) {
        while true {
            let result = await resumption { (continuation: Reader) in
                let (ready, mustResume) = state.withLock { state -> (Result<HTTPBody.Chunk?, HTTPError>?, Bool) in
                    if let chunk = state.popFirst() { return (.success(chunk), false) }
                    if let end = state.end { return (end.map { nil }, false) }
                    let mustResume = state.transportWaits
                    state.transportWaits = false
                    (state.reader, state.consumer) = (continuation, consumer)
                    return (nil, mustResume)
                }
                if mustResume { resume() }
                if let ready { continuation.resume(returning: ready) }
            }
            guard let chunk = try result.get(), chunk.withUnsafeBytes(consumer) else { return }
        }
    }
}

/// The reading end of a pipe.
///
/// It holds the source, and with it the transport, which must outlive a streamed body.
private final class BodyReader: Sendable {
    private let pipe: BodyPipe
    private let source: any BodyPipe.Source

    init(pipe: BodyPipe, source: any BodyPipe.Source) {
        self.pipe = pipe
        self.source = source
    }

    deinit { source.discard() }

    func next() async throws(HTTPError) -> HTTPBody.Chunk? {
        // What has arrived needs neither a wait nor a handler that would end one.
        if !Task.isCancelled, let ready = pipe.ready(resume: { source.resume() }) { return try ready.get() }
        let result: Result<HTTPBody.Chunk?, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) {
                return .success(try await pipe.next { source.resume() })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            source.cancel()
        }
        return try result.get()
    }

    func drain(_ consumer: @escaping ChunkSource.ByteConsumer) async throws(HTTPError) {
        let result: Result<Void, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) {
                return .success(try await pipe.drain(consumer) { source.resume() })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            source.cancel()
        }
        try result.get()
    }
}
