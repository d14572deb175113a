internal import RefrainCore
internal import RefrainHTTP

/// Carries a response's body from URLSession to its reader.
final class ResponsePipe: Sendable {
    /// The task is suspended when this many bytes are buffered.
    static let highWater = 256 << 10
    /// The task is resumed when at most this many bytes are buffered.
    static let lowWater = 64 << 10

    private struct State {
        var chunks: [HTTPBody.Chunk] = []
        var held = 0
        var sourceWaits = false
        var end: Result<Void, HTTPError>?
        var reader: CheckedContinuation<Void, Never>?
    }

    private let state = Locked(State())

    /// Appends a chunk; returns false if the source must be suspended.
    func append(_ chunk: HTTPBody.Chunk) -> Bool {
        let (reader, goesOn) = state.withLock { state in
            state.chunks.append(chunk)
            state.held += chunk.count
            defer { state.reader = nil }
            // A waiting reader takes the chunk immediately.
            state.sourceWaits = state.reader == nil && state.held >= Self.highWater
            return (state.reader, !state.sourceWaits)
        }
        reader?.resume()
        return goesOn
    }

    /// Ends the body, with or without an error.
    func finish(_ error: HTTPError?) {
        let end = error.map { Result<Void, HTTPError>.failure($0) } ?? .success(())
        let reader = state.withLock { state in
            state.end = end
            defer { state.reader = nil }
            return state.reader
        }
        reader?.resume()
    }

    /// Returns the next chunk, or nil at the end; calls `resume` when a suspended source can continue.
    func next(resume: () -> Void) async throws(HTTPError) -> HTTPBody.Chunk? {
        // The chunk is passed through the lock; see ``Exchange/takeOutcome()``.
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

    /// The body for the reader; deallocating it ends the exchange.
    func body(of exchange: Exchange, length: Int64?, for loader: URLSessionLoader) -> HTTPBody {
        let reader = ResponseReader(pipe: self, exchange: exchange, loader: loader)
        return HTTPBody(.oneShot(OneShotSource(length: length, ChunkSource { try await reader.next() })))
    }
}

/// The reading end of a pipe; it retains the loader, which must outlive a streamed body.
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
