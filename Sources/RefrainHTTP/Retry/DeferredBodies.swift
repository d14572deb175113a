// SPDX-License-Identifier: Apache-2.0
extension DeferredBodies {
    /// Whether a response of this status is one of them.
    package func contains(status: Int) -> Bool {
        switch status {
        case 301, 302, 303, 307, 308: contains(.redirects)
        case 400...: contains(.transientErrors) && Classification.isTransient(HTTPStatus(rawValue: status))
        default: false
        }
    }
}

extension HTTPResponse {
    /// Whether the body is still to be read, although the request is not for a stream.
    package func isDeferred(for request: HTTPRequest) -> Bool {
        guard !request.streamsResponse, case .oneShot = body.storage else { return false }
        return true
    }

    /// Reads a body that was deferred, as the transport would have done; any other response comes back as it is.
    ///
    /// Of an error instead of a download only ``UnreadBody/maximumSize`` bytes are read, for at most a second.
    package func collected(for request: HTTPRequest) async -> HTTPResult {
        guard isDeferred(for: request) else { return .success(self) }
        if request.download != nil, status.rawValue >= 400, !request.keepsErrorContent {
            return await withBeginningOfBody()
        }
        return await collected()
    }

    /// Reads the body as the transport would have done; `progress` receives the number of bytes after each chunk.
    package func collected(progress: (Int) -> Void = { _ in }) async -> HTTPResult {
        let limit = request.maximumBodySize ?? HTTPRequest.defaultMaximumBodySize
        do {
            return .success(with(.bytes(try await body.collect(upTo: limit, progress: progress))))
        } catch {
            return .failure(failure(error, limit))
        }
    }

    /// This response with its whole content in memory, after it was read from a stream.
    ///
    /// The transport has reported the bytes that had come with the head. Of content that was decoded, what came is
    /// known by the announced length alone.
    package func with(_ content: HTTPBody) -> HTTPResponse {
        var whole = self
        whole.body = content
        var received = content.length ?? 0
        if headers.contains("Content-Encoding") {
            let length = ContentLength.parse(fieldValues: headers[values: "Content-Length"])
            received = if case .bytes(let count) = length, !headers.contains("Transfer-Encoding") { count } else { 0 }
        }
        whole.exchange.bytesReceived = max(exchange.bytesReceived, received)
        return whole
    }

    private func failure(_ error: any Error, _ limit: Int) -> HTTPError {
        var failure: HTTPError
        switch error {
        case let error as HTTPError: failure = error
        case is HTTPBody.TooLarge:
            failure = HTTPError(
                .dataLengthExceedsMaximum,
                request: self.request,
                message: "the body is larger than \(limit) bytes",
                bytesSent: exchange.bytesSent
            )
        default:
            failure = HTTPError(
                error is CancellationError ? .cancelled : .callerFailed,
                request: self.request,
                underlyingError: error,
                message: "\(error)",
                bytesSent: exchange.bytesSent
            )
        }
        failure.attempts = attempts
        return failure
    }

    /// The response with as much of its body as comes within a second, up to 64 KiB; the rest is not read (rule R28).
    ///
    /// A body that is cut short within these limits is a failure (rule R10).
    package func withBeginningOfBody(on clock: AnyClock = RetryClocks.system.timer) async -> HTTPResult {
        let limit = min(request.maximumBodySize ?? .max, UnreadBody.maximumSize)
        let beginning = Locked<[UInt8]>([])
        let (error, isLate) = await withTimeout(UnreadBody.timeout, on: clock) { [body] () -> (any Error)? in
            do {
                for try await chunk in body {
                    let isFull = beginning.withLock { bytes in
                        bytes += chunk.prefix(limit - bytes.count)
                        return bytes.count >= limit
                    }
                    if isFull { break }
                }
                return nil
            } catch {
                return error
            }
        }
        if let error, !isLate { return .failure(failure(error, limit)) }
        var response = self
        response.body = .bytes(beginning.withLock { $0 })
        return .success(response)
    }
}

extension HTTPResponse {
    /// The response with the beginning of its body in memory, for a decision that needs it.
    ///
    /// A body that is cut short breaks again where it is read: its response is decided on by its head (rule R28).
    package func withReadableBody() async -> HTTPResponse {
        switch await withBeginningOfBody() {
        case .success(let response): return response
        case .failure(let error):
            var broken = self
            broken.body = .oneShot(AsyncThrowingStream<HTTPBody.Chunk, any Error> { throw error })
            return broken
        }
    }
}

extension HTTPRequest {
    /// This request, of which the transport may hand over such responses before their bodies are complete.
    package func deferring(_ bodies: DeferredBodies) -> HTTPRequest {
        var copy = self
        copy.deferredBodies.formUnion(bodies)
        return copy
    }
}

extension AttemptOutcome {
    /// Whether it is a response that a redirect stage further out may follow, and reads itself.
    var isRedirect: Bool {
        guard case .success(let response) = result else { return false }
        return DeferredBodies.redirects.contains(status: response.status.rawValue)
    }

    /// This outcome with its body, where that was deferred.
    func collected(for request: HTTPRequest) async -> AttemptOutcome {
        guard case .success(let response) = result, response.isDeferred(for: request) else { return self }
        var outcome = self
        outcome.result = await response.collected(for: request)
        return outcome
    }
}
