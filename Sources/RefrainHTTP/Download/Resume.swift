// SPDX-License-Identifier: Apache-2.0
/// Resumes interrupted downloads.
///
/// Place the stage after ``Retry``, which makes the attempts. If the server sent a strong validator, the next attempt
/// requests the rest; the stage verifies that the response is the rest and otherwise starts over. A 206 or a 304 that
/// the request did not ask for fails with ``HTTPError/Code/badServerResponse``, which is tried once more. A server that
/// refuses the stage's own `Range` with 400, 403, 405, 416 or 501 is asked for the whole by the next attempt. If it
/// answers that, it is not asked for ranges of the download again. Requests without a ``HTTPRequest/download`` are
/// forwarded unchanged.
public struct Resume: HTTPMiddleware {
    private let wallClock: @Sendable () -> WallClock.Instant
    private let refusals = RangeRefusals()

    /// Makes the stage.
    public init(clocks: RetryClocks = .system) {
        wallClock = { clocks.wallNow }
    }

    /// Loads a request, and writes its body to the request's download.
    public func load(_ request: HTTPRequest, next: any HTTPLoader) async -> HTTPResult {
        // A response to HEAD has no content.
        guard let download = request.download, request.method != .head else { return await next.load(request) }
        return await load(request, to: download, next)
    }

    private func load(_ request: HTTPRequest, to download: Download, _ next: any HTTPLoader) async -> HTTPResult {
        let state = download.current
        let canResume = state.canResume(with: request)
        // From another URL only a redirect leads to where the bytes came from.
        if !state.isEmpty, !canResume, !(state.canResume && request.followsRedirects), !download.sink.canStartOver {
            // The content could not be used, so it is not requested.
            return .failure(notResumable(request))
        }
        var part = request
        part.streamsResponse = true
        // With the caller's own Range the body is a part of which no rest can be requested.
        let hasOwnRange = request.headers.contains("Range")
        let namesCodings = part.headers.contains("Accept-Encoding") && !part.headers.hasDefaultCodings
        if !namesCodings, !request.acceptsCompressedDownload {
            part.headers["Accept-Encoding"] = "identity"
        }
        let mayAsk = state.ranges == .assumed && !hasOwnRange
        let askedForRest = canResume && mayAsk
        let isBeginning = state.isEmpty && state.end != nil && request.method == .get
        let askedForBeginning = isBeginning && mayAsk && !refusals.contains(request)
        if askedForRest || askedForBeginning {
            part.headers["Range"] = "bytes=\(state.offset)-" + (state.end.map { "\($0 - 1)" } ?? "")
        }
        if askedForRest, let validator = state.validator { part.headers["If-Range"] = validator.fieldValue }
        let response: HTTPResponse
        switch await next.load(part) {
        case .failure(let error): return .failure(error)
        case .success(let arrived): response = arrived
        }
        let continuation = state.continuation(
            response,
            askedForRest: askedForRest,
            askedForBeginning: askedForBeginning,
            hasOwnRange: hasOwnRange
        )
        switch continuation {
        case .rest(let length, let total):
            download.current.total = total
            if let goal = download.current.goal, let tooLarge = response.refusal(ofDownloadOf: goal) {
                return .failure(tooLarge)
            }
            if let failure = await announce(response, to: download) { return .failure(failure) }
            return await deliver(response, to: download, atMost: length)
        case .beginning(let length, let total):
            guard
                let begun = DownloadState.atBeginning(
                    of: response,
                    to: request,
                    total: total,
                    end: state.end,
                    now: wallClock()
                )
            else {
                download.current.end = nil
                return .failure(restart(response, "the server has no strong validator; the download starts over"))
            }
            download.current = begun
            if let failure = await announce(response, to: download) { return .failure(failure) }
            return await deliver(response, to: download, atMost: length, isRest: false)
        case .whole:
            if !state.isEmpty, let failure = await startOver(download, response) { return .failure(failure) }
            let ranges = state.ranges(afterWhole: response)
            if ranges == .refused, state.ranges != .refused { refusals.insert(response.request) }
            if hasOwnRange {
                download.current = DownloadState()
            } else if case .bytes(let bytes) = response.body.storage, Int64(bytes.count) == continuation.total {
                // What has arrived is not interrupted any more: nothing is noted that a rest could be requested by.
                download.current = DownloadState(total: continuation.total)
            } else {
                download.current = .atStart(of: response, to: request, now: wallClock())
            }
            download.current.ranges = ranges
            // What cannot be continued has no checkpoint either.
            if ranges == .refused { download.current.validator = nil }
            // Other methods have no ranges (RFC 9110 §14.2); an interrupted response is requested again from the
            // beginning.
            if request.method != .get { download.current.validator = nil }
            if let failure = await announce(response, to: download) { return .failure(failure) }
            return await deliver(response, to: download, atMost: nil)
        case .mismatch(let reason):
            // A second request for a part would have the same response.
            if askedForBeginning { download.current.end = nil }
            guard askedForRest || askedForBeginning else {
                return .failure(await startOver(download, response) ?? unasked(response, reason))
            }
            let ranges = state.ranges(afterMismatch: response)
            if ranges == .refused { refusals.insert(response.request) }
            download.current.ranges = ranges
            let failure = restart(response, "\(reason); the download starts over")
            return .failure(await startOver(download, response) ?? failure)
        case .rangeRefused where state.isEmpty || download.sink.canStartOver:
            // The bytes stay: without Range the answer may be the same.
            download.current.ranges = .doubted(response.status, validator: state.validator)
            let reason = "the server answered \(response.status) to a range; the next request has none"
            return .failure(restart(response, reason))
        case .rangeRefused, .other:
            if case .doubted(response.status, _) = state.ranges { download.current.ranges = .assumed }
            return await collected(response, to: request)
        }
    }

    /// Announces a response to the sink of the download; returns the error that ends the attempt.
    private func announce(_ response: HTTPResponse, to download: Download) async -> HTTPError? {
        let sink = download.sink
        do {
            let state = download.current
            let isTooShort = state.offset == 0 && state.total.map { $0 < sink.minimumLengthOfCheckpoints } ?? false
            try await sink.willReceive(response, from: isTooShort ? nil : state.checkpoint)
            return nil
        } catch {
            download.current.isIntact = false
            return failure(error, response, download, resumedBytes: 0)
        }
    }

    /// Writes the body to the sink, and checks its length.
    private func deliver(
        _ response: HTTPResponse,
        to download: Download,
        atMost length: Int64?,
        isRest: Bool = true
    ) async -> HTTPResult {
        let countsProgress = isRest && length != nil
        var received: Int64 = 0
        do {
            if let direct = DirectDelivery.prepare(response, to: download, atMost: length) {
                defer { received = direct.received }
                try await direct.run()
            } else {
                for try await chunk in response.body {
                    received += Int64(chunk.count)
                    if let length, received > length { throw LongerThanItsRange() }
                    let size = download.bytesReceived + Int64(chunk.count)
                    if let tooLarge = response.refusal(ofDownloadOf: size) { throw tooLarge }
                    // Before the sink is asked, which would be in doubt afterwards.
                    try Task.checkCancellation()
                    do {
                        try await download.sink.write(chunk)
                    } catch {
                        // The sink may have taken some of the bytes, so what it holds is unknown.
                        download.current.isIntact = false
                        throw error
                    }
                    download.current.offset += Int64(chunk.count)
                }
            }
        } catch is LongerThanItsRange {
            let reason = "more came than the Content-Range said"
            let failure = restart(response, "\(reason); the download starts over")
            return .failure(await startOver(download, response) ?? failure)
        } catch {
            return .failure(failure(error, response, download, resumedBytes: countsProgress ? received : 0))
        }
        let state = download.current
        let isCut = length.map { received < $0 } ?? false
        if isCut || state.goal.map({ state.offset < $0 }) ?? false {
            let cut = HTTPError(
                .networkConnectionLost,
                request: response.request,
                message: "\(state.offset) of \(state.goal.map { "\($0)" } ?? "?") bytes arrived",
                bytesSent: response.exchange.bytesSent
            )
            return .failure(failure(cut, response, download, resumedBytes: countsProgress ? received : 0))
        }
        var done = response
        done.body = .empty
        done.exchange.bytesReceived = state.offset
        if length != nil { done.headers = state.completed(done.headers) }
        return .success(done)
    }

    /// The error of an interrupted delivery, with the facts that decide on the next attempt: whether the download can
    /// be resumed, and its progress.
    ///
    /// Only bytes of a rest count as progress; otherwise a server that interrupts every response and serves no rest
    /// would be retried without limit.
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
        let code = (error as? HTTPBody.FileError)?.code ?? (error is CancellationError ? .cancelled : .callerFailed)
        return HTTPError(
            code,
            request: response.request,
            underlyingError: error,
            message: "\(error)",
            bytesSent: response.exchange.bytesSent
        )
    }

    /// Empties the sink; returns the error that ends the call if the sink cannot be emptied.
    private func startOver(_ download: Download, _ response: HTTPResponse) async -> HTTPError? {
        do {
            try await download.startOver()
            return nil
        } catch {
            return failure(error, response, download, resumedBytes: 0)
        }
    }

    private func notResumable(_ request: HTTPRequest) -> HTTPError {
        let cause = Download.CannotStartOver()
        return HTTPError(
            .callerFailed,
            request: request,
            underlyingError: cause,
            message: "\(cause)",
            bytesSent: 0
        )
    }

    /// The error of a part, or of a 304, without a request for either: no other request would ask for less.
    ///
    /// A cache on the way may have mistaken the request for another one, so one more attempt is made (rule R8).
    private func unasked(_ response: HTTPResponse, _ reason: String) -> HTTPError {
        let range = response.headers["Content-Range"].map { " (Content-Range: \($0))" } ?? ""
        return HTTPError(
            .badServerResponse,
            request: response.request,
            message: "status \(response.status)\(range): \(reason)",
            bytesSent: response.exchange.bytesSent
        )
    }

    /// The error of an attempt that the next one repeats with another `Range`, or without one.
    private func restart(_ response: HTTPResponse, _ reason: String) -> HTTPError {
        var error = HTTPError(
            .resourceUnavailable,
            request: response.request,
            message: reason,
            bytesSent: response.exchange.bytesSent
        )
        error.startsOver = true
        return error
    }

    /// Returns a response without content of the download, with its body in memory; of an error the beginning of it.
    ///
    /// The status of an error response decides on the retry, so the rest of its body is not awaited. A body that a
    /// stage further out may discard is left to that stage. Any other response, such as a redirect that is not
    /// followed, is returned complete or as a failure.
    private func collected(_ response: HTTPResponse, to request: HTTPRequest) async -> HTTPResult {
        guard !request.deferredBodies.contains(status: response.status.rawValue) else { return .success(response) }
        return await response.collected(for: request)
    }
}

/// The origins that have refused a range and have sent the same content without it.
///
/// They are not asked for the beginning of a file by a range, which would cost a request each time. The rest of a
/// content is asked for all the same, since other resources of an origin may have ranges.
private final class RangeRefusals: Sendable {
    private static let maximumCount = 1000
    private let origins = Locked<Set<Origin>>([])

    func contains(_ request: HTTPRequest) -> Bool {
        origins.withLock { origins in !origins.isEmpty && Origin(request.url).map(origins.contains) ?? false }
    }

    func insert(_ request: HTTPRequest) {
        guard let origin = Origin(request.url) else { return }
        origins.withLock { if $0.count < Self.maximumCount { $0.insert(origin) } }
    }
}
