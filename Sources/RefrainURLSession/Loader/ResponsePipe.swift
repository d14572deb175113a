internal import RefrainCore
internal import RefrainHTTP

/// Carries a response's body from URLSession to its reader.
final class ResponsePipe: Sendable {
    /// The task has to wait when this much is held.
    static let highWater = 256 << 10
    /// The task goes on when no more than this is held.
    static let lowWater = 64 << 10

    private struct State {
        var chunks: [HTTPBody.Chunk] = []
        var held = 0
        var sourceWaits = false
        var end: Result<Void, HTTPError>?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Adds a chunk; false where the source has to wait until it is called.
    func append(_ chunk: HTTPBody.Chunk) -> Bool {
        let (reader, goesOn) = state.withLock { state in
            state.chunks.append(chunk)
            state.held += chunk.count
            defer { state.reader = nil }
            // A reader who waits takes it at once.
            state.sourceWaits = state.reader == nil && state.held >= Self.highWater
            return (state.reader, !state.sourceWaits)
        }
        reader?.resume()
        return goesOn
    }

    /// Ends the body, well or with an error.
    func finish(_ error: HTTPError?) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let reader = state.withLock { state in
            state.end = end
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// The next chunk, nil at the end; `resume` is called where the source waits and there is room again.
    func next(resume: () -> Void) async throws(HTTPError) -> HTTPBody.Chunk? {
        // What is read goes by way of the lock; see ``Exchange/takeOutcome()``.
        await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
            let mustWait = state.withLock { state in
                guard state.chunks.isEmpty, state.end == nil else { return false }
                state.reader = continuation
                return true
            }
            if !mustWait { continuation.resume() }
        }
        let (next, mustResume) = state.withLock { state -> (Result<HTTPBody.Chunk?, HTTPError>, Bool) in
            guard !state.chunks.isEmpty else { return ((state.end ?? .success(())).map { nil }, false) }
            let chunk = state.chunks.removeFirst()
            state.held -= chunk.count
            let mustResume = state.sourceWaits && state.held <= Self.lowWater
            if mustResume { state.sourceWaits = false }
            return (.success(chunk), mustResume)
        }
        if mustResume { resume() }
        return try next.get()
    }

    /// The body that its reader gets; dropping it ends the exchange.
    func body(of exchange: Exchange, length: Int64?, for loader: URLSessionLoader) -> HTTPBody {
        let reader = ResponseReader(pipe: self, exchange: exchange, loader: loader)
        return HTTPBody(.oneShot(OneShotSource(length: length, ChunkSource { try await reader.next() })))
    }
}

/// The reader's end of a pipe; it keeps the loader, which must live as long as a body that is read as it arrives.
private final class ResponseReader: Sendable {
    private let pipe: ResponsePipe
    private let exchange: Exchange
    private let loader: URLSessionLoader

    init(pipe: ResponsePipe, exchange: Exchange, loader: URLSessionLoader) {
        self.pipe = pipe
        self.exchange = exchange
        self.loader = loader
    }

    deinit { loader.delegate.discard(exchange) }

    func next() async throws(HTTPError) -> HTTPBody.Chunk? {
        let result: Result<HTTPBody.Chunk?, HTTPError> = await withTaskCancellationHandler {
            do throws(HTTPError) {
                return .success(try await pipe.next { loader.delegate.unpause(exchange) })
            } catch {
                return .failure(error)
            }
        } onCancel: {
            loader.delegate.cancel(exchange)
        }
        return try result.get()
    }
}
