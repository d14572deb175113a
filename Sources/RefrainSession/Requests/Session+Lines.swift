extension Session {
    /// The lines of a response, as they arrive.
    ///
    /// ```swift
    /// for try await line in session.lines("https://api.example.com/log") { print(line) }
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
            CancellableChunks(base: streamRequest(url, headers: headers).validate().chunks)
        }
        return HTTPBody.stream(chunks).lines(upTo: limit)
    }

    /// The lines of the response to a request, as they arrive; see ``lines(_:headers:upTo:)``.
    public func lines(
        _ request: some RequestConvertible,
        upTo limit: Int = HTTPBody.Lines.defaultLimit
    ) -> HTTPBody.Lines {
        let chunks = { @Sendable [self] in CancellableChunks(base: streamRequest(request).validate().chunks) }
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
