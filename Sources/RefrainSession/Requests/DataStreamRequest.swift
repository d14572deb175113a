// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// A request whose response is streamed.
///
/// ```swift
/// let events = session.streamRequest("https://example.com/events")
/// for try await chunk in events.validate().chunks {
///     print(chunk.count)
/// }
/// ```
///
/// The server is slowed down while the stream is not read. Attempts end with the head of the response: a truncated body
/// ends the stream with an error, because delivered data cannot be taken back.
public final class DataStreamRequest: Request, @unchecked Sendable {
    // @unchecked Sendable: as `Request`; what it adds is immutable and Sendable.
    /// Holds one chunk at a time: the server is held back until it is taken.
    private let channel = ByteChannel(highWater: 1, lowWater: 0)
    private let handlers = Locked(Handlers())

    private struct Handlers {
        var all: [@Sendable (Event) async -> Void] = []
        var end: Result<Void, RefrainError>?
        /// Whether the chunks have a reader.
        var isClaimed = false
    }

    /// The chunks of the body, for one reader, which can be read once; reading starts the request.
    ///
    /// They throw ``RefrainError``. A reader that stops early cancels the request. A second reader, also after
    /// ``responseStream(_:)``, ends at once with ``/RefrainHTTP/HTTPError/Code/bodyAlreadyRead``, or with the error of
    /// a failed stream. So the chunks cannot be retried; make the request again within `withRetry` instead.
    public var chunks: Chunks { Chunks(request: self) }

    /// Calls `handler` with each chunk, and then with the end; the request starts at once.
    ///
    /// Of several handlers each gets all chunks that come after it was added. They are called one after the other, and
    /// the server is held back until the last of them returns.
    @_disfavoredOverload
    @discardableResult
    public func responseStream(_ handler: @escaping @Sendable (Event) -> Void) -> Self {
        onEvent { handler($0) }
        return self
    }

    /// As ``responseStream(_:)``, with a handler that the next event waits for.
    package func onEvent(_ handler: @escaping @Sendable (Event) async -> Void) {
        enum Position { case first, further, late(Result<Void, RefrainError>) }
        let position = handlers.withLock { handlers -> Position in
            if let end = handlers.end { return .late(end) }
            handlers.all.append(handler)
            return handlers.all.count == 1 ? .first : .further
        }
        switch position {
        case .first:
            let reader = Chunks.Iterator(self)
            Task { await handOn(reader) }
        case .further: break
        case .late(let end): Task { await handler(.complete(end)) }
        }
        startIfWanted()
    }

    /// Calls the handlers with what a reader gets.
    private func handOn(_ reader: Chunks.Iterator) async {
        let end: Result<Void, RefrainError>
        do {
            while let chunk = try await reader.next() {
                for handler in handlers.withLock({ $0.all }) { await handler(.stream(chunk)) }
            }
            end = .success(())
        } catch {
            end = .failure(error as? RefrainError ?? .explicitlyCancelled)
        }
        let all = handlers.withLock { handlers in
            handlers.end = end
            defer { handlers.all = [] }
            return handlers.all
        }
        for handler in all { await handler(.complete(end)) }
    }

    /// What a stream brings.
    public enum Event: Sendable {
        /// The next bytes.
        case stream([UInt8])
        /// The end.
        case complete(Result<Void, RefrainError>)
    }

    override func prepare(_ request: HTTPRequest) throws -> HTTPRequest {
        var request = request
        request.streamsResponse = true
        return request
    }

    override var settles: Bool { true }

    override func settle(
        _ response: HTTPResponse?,
        isAccepted: Bool,
        error: RefrainError?
    ) async -> RefrainError? {
        guard error == nil, let response else { return error }
        return await pass(on: response)
    }

    /// A response that will not be read does not keep its connection.
    override var keepsBodies: Bool { false }

    override class var hasNoContent: @Sendable (HTTPResponse) -> Bool {
        { response in
            // These end with their head, whatever length it names (RFC 9112 §6.3).
            let endsWithHead = response.request.method == .head || [204, 304].contains(response.status.rawValue)
            return endsWithHead || response.expectedLength == 0
        }
    }

    override func didEnd() {
        // After the state has changed, so that a reader that receives the end finds the request ended.
        if ending.outcome.error != nil { channel.close() }
        channel.finish()
    }

    private func pass(on response: HTTPResponse) async -> RefrainError? {
        var completed: Int64 = 0
        let total = response.expectedLength
        do {
            for try await chunk in response.body {
                await gate.pass()
                try Task.checkCancellation()
                guard await channel.send(chunk) else { return .explicitlyCancelled }
                completed += Int64(chunk.count)
                note(downloaded: Request.TransferProgress(completed: completed, total: total))
            }
            return nil
        } catch let error as HTTPError {
            return RefrainError(of: error)
        } catch is CancellationError {
            return .explicitlyCancelled
        } catch {
            // A loader of the caller's may have errors of its own.
            let sent = response.request
            let failure = HTTPError(.callerFailed, request: sent, underlyingError: error, message: "\(error)")
            return RefrainError(of: failure)
        }
    }

    /// The next chunk for the one reader, whose task's cancellation cancels the request; nil at the end.
    private func nextChunk() async throws(HTTPError) -> HTTPBody.Chunk? {
        try await channel.next(onCancel: { cancel() })
    }

    /// The chunks of a streamed body.
    public struct Chunks: AsyncSequence, ReplayableSequence, Sendable {
        /// One piece of the body.
        public typealias Element = [UInt8]

        let request: DataStreamRequest

        package var canReplay: Bool { false }

        /// Starts the request, and reads its chunks.
        public func makeAsyncIterator() -> Iterator {
            request.startIfWanted()
            return Iterator(request)
        }

        /// Reads chunk after chunk.
        public final class Iterator: AsyncIteratorProtocol {
            private let request: DataStreamRequest
            /// Whether this is the one reader.
            private let isReader: Bool
            private var hasEnded = false

            init(_ request: DataStreamRequest) {
                self.request = request
                isReader = request.handlers.withLock { handlers in
                    defer { handlers.isClaimed = true }
                    return !handlers.isClaimed
                }
            }

            deinit {
                guard isReader, !hasEnded else { return }
                request.channel.close()
                request.cancel()
            }

            /// The next chunk, or nil at the end.
            ///
            /// - Throws: ``RefrainError``.
            public func next() async throws -> [UInt8]? {
                guard !hasEnded else { return nil }
                if isReader, let chunk = try await request.nextChunk() { return chunk }
                hasEnded = true
                if let error = request.ending.outcome.error { throw error }
                if !isReader { throw RefrainError.chunksAlreadyRead(of: request.request) }
                return nil
            }
        }
    }
}

extension Session {
    /// Makes a request whose response is streamed.
    public func streamRequest(
        _ request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        adopting(
            DataStreamRequest(RequestFactory(request), interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }

    /// Makes a request for a URL whose response is streamed.
    public func streamRequest(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DataStreamRequest {
        let original = RequestFactory(url, method, headers, BodyContent(body: nil), requestModifier)
        return adopting(
            DataStreamRequest(original, interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }
}

extension Session {
    /// The lines of a response, as they arrive.
    ///
    /// ```swift
    /// let lines = session.lines("https://api.example.com/log")
    /// for try await line in lines { print(line) }
    /// ```
    ///
    /// Each iteration makes a request of its own. Its response is validated: a status that is not a 2xx throws.
    /// Attempts end with the head of the response; a body that is cut short throws, since lines that were delivered
    /// cannot be taken back. The server is held back while nothing is read.
    ///
    /// - Parameters:
    ///   - url: where the request goes.
    ///   - headers: the header fields.
    ///   - limit: the largest number of bytes of one line, beyond which `HTTPBody.LineTooLong` is thrown. Defaults to
    ///     1 MiB.
    /// - Returns: the lines. They throw `CancellationError` where the task was cancelled, otherwise ``RefrainError``.
    public func lines(
        _ url: some URLConvertible,
        headers: HTTPHeaders = [:],
        upTo limit: Int = HTTPBody.Lines.defaultLimit
    ) -> HTTPBody.Lines {
        let chunks = { @Sendable [self] in
            let request = streamRequest(url, headers: headers, shouldAutomaticallyResume: true)
            return CancellableChunks(base: request.validate().chunks)
        }
        return HTTPBody.stream(chunks).lines(upTo: limit)
    }

    /// The lines of the response to a request, as they arrive; see ``lines(_:headers:upTo:)``.
    public func lines(
        _ request: some RequestConvertible,
        upTo limit: Int = HTTPBody.Lines.defaultLimit
    ) -> HTTPBody.Lines {
        let chunks = { @Sendable [self] in
            let request = streamRequest(request, shouldAutomaticallyResume: true)
            return CancellableChunks(base: request.validate().chunks)
        }
        return HTTPBody.stream(chunks).lines(upTo: limit)
    }
}

/// The chunks of a stream, which throw `CancellationError` where the task that reads them was cancelled.
private struct CancellableChunks: AsyncSequence {
    let base: DataStreamRequest.Chunks

    func makeAsyncIterator() -> Iterator { Iterator(base: base.makeAsyncIterator()) }

    struct Iterator: AsyncIteratorProtocol {
        let base: DataStreamRequest.Chunks.Iterator

        func next() async throws -> [UInt8]? {
            do {
                return try await base.next()
            } catch {
                try Task.checkCancellation()
                throw error
            }
        }
    }
}
