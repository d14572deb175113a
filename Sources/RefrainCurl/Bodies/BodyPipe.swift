internal import RefrainCore
internal import RefrainHTTP

/// Carries a response's body from the loop to its reader, a bounded amount at a time.
final class BodyPipe: Sendable {
    /// The server has to wait when this much is held.
    static let highWater = 256 << 10
    /// The server goes on when no more than this is held.
    static let lowWater = 64 << 10

    private let state = Locked(State())

    private typealias Reader = UnsafeContinuation<Result<HTTPBody.Chunk?, HTTPError>, Never>

    private struct State {
        var chunks: [HTTPBody.Chunk] = []
        var first = 0
        var held = 0
        var loopWaits = false
        var end: Result<Void, HTTPError>?
        var reader: Reader?

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

    func append(_ bytes: UnsafeRawBufferPointer) {
        let (reader, chunk) = state.withLock { state -> (Reader?, HTTPBody.Chunk?) in
            if let reader = state.reader {
                state.reader = nil
                return (reader, HTTPBody.Chunk(bytes))
            }
            state.held += bytes.count
            if let last = state.chunks.indices.last, last >= state.first,
                state.chunks[last].count + bytes.count <= 65_536
            {
                state.chunks[last].append(contentsOf: bytes)
            } else {
                state.chunks.append(HTTPBody.Chunk(bytes))
            }
            return (nil, nil)
        }
        reader?.resume(returning: .success(chunk))
    }

    func finish(_ error: HTTPError?) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let reader = state.withLock { state in
            state.end = end
            let reader = state.reader
            state.reader = nil
            return reader
        }
        reader?.resume(returning: end.map { nil })
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

/// The reader's end of a pipe.
///
/// When nobody holds it any more, nobody can read the rest.
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
