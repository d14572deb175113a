/// Lets a download go on where it was cut short (rule R11).
///
/// The stage belongs inside of ``Retry``, which makes the further attempts: this one asks for the rest where the
/// server gave a strong validator, checks that what comes is the rest, and starts over where it is not. Requests
/// without a ``HTTPRequest/download`` pass unchanged.
public struct Resume: HTTPMiddleware {
    private let wallClock: @Sendable () -> WallInstant

    /// Makes the stage.
    public init(clocks: ClockPair = .system) {
        wallClock = { clocks.wallNow }
    }

    /// Loads a request, and passes its body to the request's download.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        // The answer to a HEAD has no content to pass on.
        guard let download = request.download, request.method != .head else { return await next.load(request) }
        return await load(request, to: download, next)
    }

    // Apart, so that requests without a download do not pass through its frame.
    @inline(never)
    private func load(_ request: HTTPRequest, to download: Download, _ next: any HTTPLoader) async -> HTTPResult {
        let state = download.current
        let canResume = state.canResume(with: request)
        if !state.isEmpty, !canResume, !download.sink.canStartOver {
            // What would come now could not be used, so it is not asked for.
            return .failure(cannotGoOn(request))
        }
        var part = request
        part.streamsResponse = true
        // A caller's own Range makes the body a part of his choosing, of which a further part cannot be asked for.
        let hasOwnRange = request.headers.contains("Range")
        if !part.headers.contains("Accept-Encoding") { part.headers["Accept-Encoding"] = "identity" }
        let askedForRest = canResume && !hasOwnRange
        if askedForRest, let validator = state.validator {
            part.headers["Range"] = "bytes=\(state.offset)-"
            part.headers["If-Range"] = validator.fieldValue
        }
        let response: HTTPResponse
        switch await next.load(part) {
        case .failure(let error): return .failure(error)
        case .success(let arrived): response = arrived
        }
        switch state.continuation(response, askedForRest: askedForRest, hasOwnRange: hasOwnRange) {
        case .rest(let length, let total):
            download.current.total = total
            return await deliver(response, to: download, atMost: length)
        case .whole:
            if !state.isEmpty, let failure = await startOver(download, response) { return .failure(failure) }
            download.current = hasOwnRange ? DownloadState() : .atStart(of: response, to: request, now: wallClock())
            // Other methods have no ranges (RFC 9110 §14.2): what they brought in part is asked for anew as a whole.
            if request.method != .get { download.current.validator = nil }
            return await deliver(response, to: download, atMost: nil)
        case .mismatch(let reason):
            return .failure(await startOver(download, response) ?? restart(response, reason))
        case .other:
            return await collected(response)
        }
    }

    /// Passes the body on, and checks that it was as long as it was said to be.
    private func deliver(_ response: HTTPResponse, to download: Download, atMost length: Int64?) async -> HTTPResult {
        var gained: Int64 = 0
        do {
            for try await chunk in response.body {
                gained += Int64(chunk.count)
                if let length, gained > length {
                    return .failure(
                        await startOver(download, response)
                            ?? restart(response, "more came than the Content-Range said")
                    )
                }
                let size = download.bytesReceived + Int64(chunk.count)
                try checkSize(size, response, limit: response.request.maximumBodySize)
                do {
                    try await download.sink.write(chunk)
                } catch {
                    // It may have taken some of the bytes: what it holds is not what was counted.
                    download.current.isIntact = false
                    throw error
                }
                download.current.offset += Int64(chunk.count)
            }
        } catch {
            return .failure(failure(error, response, download, resumedBytes: length == nil ? 0 : gained))
        }
        let state = download.current
        let isCut = length.map { gained < $0 } ?? false
        if isCut || state.total.map({ state.offset < $0 }) ?? false {
            let cut = HTTPError(
                .networkConnectionLost,
                request: response.request,
                message: "\(state.offset) of \(state.total.map { "\($0)" } ?? "?") bytes arrived",
                bytesSent: response.exchange.bytesSent
            )
            return .failure(failure(cut, response, download, resumedBytes: length == nil ? 0 : gained))
        }
        var done = response
        done.body = .empty
        done.exchange.bytesReceived = state.offset
        if length != nil { done.headers = state.completed(done.headers) }
        return .success(done)
    }

    private func checkSize(_ size: Int64, _ response: HTTPResponse, limit: Int?) throws(HTTPError) {
        guard let limit, size > Int64(limit) else { return }
        throw HTTPError(
            .dataLengthExceedsMaximum,
            request: response.request,
            message: "the body is larger than \(limit) bytes",
            bytesSent: response.exchange.bytesSent
        )
    }

    /// What ended the delivery, with what decides on the next try: whether it can go on, and whether it is free.
    ///
    /// Only the bytes of a rest count as progress. A server that cuts every answer and serves no rest would
    /// otherwise be asked without an end.
    private func failure(
        _ error: any Error,
        _ response: HTTPResponse,
        _ download: Download,
        resumedBytes: Int64
    ) -> HTTPError {
        if var error = error as? HTTPError {
            error.progress = download.current.canResume ? resumedBytes : nil
            return error
        }
        let code = (error as? LocalFileError)?.code ?? (error is CancellationError ? .cancelled : .callerFailed)
        return HTTPError(
            code,
            request: response.request,
            underlyingError: error,
            message: "\(error)",
            bytesSent: response.exchange.bytesSent
        )
    }

    /// Empties the sink; answers the error that ends the call where it cannot be emptied.
    private func startOver(_ download: Download, _ response: HTTPResponse) async -> HTTPError? {
        do {
            try await download.startOver()
            return nil
        } catch {
            return failure(error, response, download, resumedBytes: 0)
        }
    }

    private func cannotGoOn(_ request: HTTPRequest) -> HTTPError {
        let cause = CannotStartOver()
        return HTTPError(
            .callerFailed,
            request: request,
            underlyingError: cause,
            message: "\(cause)",
            bytesSent: 0
        )
    }

    private func restart(_ response: HTTPResponse, _ reason: String) -> HTTPError {
        var error = HTTPError(
            .resourceUnavailable,
            request: response.request,
            message: "\(reason); the download starts over",
            bytesSent: response.exchange.bytesSent
        )
        error.startsOver = true
        return error
    }

    /// How much is kept of the body of an error answer.
    private static let keptOfErrors = 65_536

    /// The response with its body in memory; of one that is an error the first 64 KiB of it.
    ///
    /// An error is one, however long it talks: its status decides on the next try, and the rest of it is not waited for
    /// (rule R28). What else is no content of the download, such as a redirect that nobody follows, is an answer that
    /// somebody wants, and is whole or a failure (rule R10).
    private func collected(_ response: HTTPResponse) async -> HTTPResult {
        var answer = response
        do {
            let isError = response.status.rawValue >= 400
            answer.body = .bytes(try await isError ? beginning(of: response) : whole(of: response))
            return .success(answer)
        } catch let error as HTTPError {
            return .failure(error)
        } catch {
            return .failure(
                HTTPError(
                    .callerFailed,
                    request: response.request,
                    underlyingError: error,
                    message: "\(error)",
                    bytesSent: response.exchange.bytesSent
                )
            )
        }
    }

    private func beginning(of response: HTTPResponse) async throws -> [UInt8] {
        let limit = min(response.request.maximumBodySize ?? .max, Self.keptOfErrors)
        return try await response.body.beginning(upTo: limit)
    }

    private func whole(of response: HTTPResponse) async throws -> [UInt8] {
        let limit = response.request.maximumBodySize ?? HTTPRequest.defaultMaximumBodySize
        var bytes: [UInt8] = []
        for try await chunk in response.body {
            try checkSize(Int64(bytes.count) + Int64(chunk.count), response, limit: limit)
            bytes += chunk
        }
        return bytes
    }
}
