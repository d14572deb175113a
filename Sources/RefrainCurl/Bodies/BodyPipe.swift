internal import RefrainCore
internal import RefrainHTTP

/// Carries a response's body from the loop to its reader, a bounded amount at a time.
final class BodyPipe: Sendable {
    /// The server has to wait when this much is held.
    static let highWater = 256 << 10
    /// The server goes on when no more than this is held.
    static let lowWater = 64 << 10
    /// What arrives is handed over in chunks of this size at most; less than the difference of the two above.
    private static let chunkSize = 64 << 10

    private let state = Locked(State())

    private typealias Reader = UnsafeContinuation<Result<HTTPBody.Chunk?, HTTPError>, Never>

    private struct State {
        var chunks: [HTTPBody.Chunk] = []
        var first = 0
        var held = 0
        var loopWaits = false
        var end: Result<Void, HTTPError>?
        var reader: Reader?
        /// Whether the loop will wake the reader at the end of its round.
        var readerIsNoted = false

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
    }

    /// The body that its reader gets; dropping it ends the transfer.
    func body(of transfer: Transfer, length: Int64?, for loader: CurlLoader) -> HTTPBody {
        let reader = BodyReader(pipe: self, transfer: transfer, loader: loader)
        return HTTPBody(.oneShot(OneShotSource(length: length, ChunkSource { try await reader.next() })))
    }

    // MARK: On the loop's thread

    /// Whether more may be appended; if not, the loop is told when.
    var hasRoom: Bool {
        state.withLock { state in
            if state.held < Self.highWater { return true }
            state.loopWaits = true
            return false
        }
    }

    /// Takes a piece; true where a reader waits, and is to be woken at the end of the loop's round.
    ///
    /// Not at once: mostly more pieces follow in the same round, and it would be woken for each of them.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        state.withLock { state in
            state.held += bytes.count
            if let last = state.chunks.indices.last, last >= state.first,
                state.chunks[last].count + bytes.count <= Self.chunkSize
            {
                state.chunks[last].append(contentsOf: bytes)
            } else {
                var chunk = HTTPBody.Chunk()
                // Where much comes at a time, more is on its way.
                chunk.reserveCapacity(bytes.count < Self.chunkSize / 4 ? bytes.count : Self.chunkSize)
                chunk.append(contentsOf: bytes)
                state.chunks.append(chunk)
            }
            guard state.reader != nil, !state.readerIsNoted else { return false }
            state.readerIsNoted = true
            return true
        }
    }

    /// Hands the first chunk to the reader who waits.
    ///
    /// The loop need not go on for that: if it had to stop, more than one chunk is held.
    func wakeReader() {
        let (reader, chunk) = state.withLock { state -> (Reader?, HTTPBody.Chunk?) in
            state.readerIsNoted = false
            guard let reader = state.reader, let chunk = state.popFirst() else { return (nil, nil) }
            state.reader = nil
            return (reader, chunk)
        }
        reader?.resume(returning: .success(chunk))
    }

    func finish(_ error: HTTPError?) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let (reader, chunk) = state.withLock { state -> (Reader?, HTTPBody.Chunk?) in
            state.end = end
            guard let reader = state.reader else { return (nil, nil) }
            state.reader = nil
            return (reader, state.popFirst())
        }
        reader?.resume(returning: chunk.map { .success($0) } ?? end.map { nil })
    }

    // MARK: On the reader's side

    /// The next chunk, nil at the end; `resume` is called where the loop waits for room.
    func next(resume: () -> Void) async throws(HTTPError) -> HTTPBody.Chunk? {
        let result = await resumption { (continuation: Reader) in
            let (ready, mustResume) = state.withLock { state -> (Result<HTTPBody.Chunk?, HTTPError>?, Bool) in
                if let chunk = state.popFirst() {
                    let mustResume = state.loopWaits && state.held <= Self.lowWater
                    if mustResume { state.loopWaits = false }
                    return (.success(chunk), mustResume)
                }
                if let end = state.end { return (end.map { nil }, false) }
                state.reader = continuation
                return (nil, false)
            }
            if mustResume { resume() }
            if let ready { continuation.resume(returning: ready) }
        }
        return try result.get()
    }
}

/// The reading end of a pipe.
///
/// When it is deallocated, the rest cannot be read any more.
private final class BodyReader: Sendable {
    private let pipe: BodyPipe
    private let transfer: Transfer
    private let loader: CurlLoader

    init(pipe: BodyPipe, transfer: Transfer, loader: CurlLoader) {
        self.pipe = pipe
        self.transfer = transfer
        self.loader = loader
    }

    deinit { loader.loop.post(.discard(transfer)) }

    func next() async throws(HTTPError) -> HTTPBody.Chunk? {
        let result: Result<HTTPBody.Chunk?, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) {
                return .success(try await pipe.next { loader.loop.post(.resume(transfer)) })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            loader.loop.cancel(transfer)
        }
        return try result.get()
    }
}
