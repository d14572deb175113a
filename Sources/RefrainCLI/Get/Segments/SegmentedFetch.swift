// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Fetches the segments of a file after its beginning, several at a time.
///
/// Each is a separate request, which is retried alone. If a server refuses one of several connections, the others go
/// on, one fewer at a time.
struct SegmentedFetch: Sendable {
    let loader: any HTTPLoader
    let file: SegmentedFile
    /// How many segments are fetched at a time.
    let connections: Int
    let progress: TransferProgress?
    /// When the time of the request is up; nil: it has no limit.
    let deadline: ContinuousClock.Instant?

    /// Completes the content of which a first request has fetched the beginning.
    ///
    /// - Parameters:
    ///   - first: the result of that request; returned unchanged if nothing is missing.
    ///   - request: the request of the whole body.
    ///   - start: when it began.
    /// - Returns: the first response, with the attempts of all requests; or what ended the first segment that failed.
    func complete(
        _ first: HTTPResult,
        of request: HTTPRequest,
        since start: ContinuousClock.Instant
    ) async -> HTTPResult {
        guard case .success(var head) = first, head.status.isSuccess else { return first }
        let pending = file.pending
        guard !pending.isEmpty else { return first }
        progress?.begin(total: file.total, from: file.size)
        var attempts = head.attempts
        var ending: HTTPResult?
        // The request to the URL of the content, after all redirects; the first one again where that URL has expired.
        var template = head.request
        await withTaskGroup(of: Fetched.self) { group in
            var waiting = pending
            var limit = connections
            var running: Set<Int> = []
            // Those that ran beside another one: what a server refuses then, it may serve alone.
            var accompanied: Set<Int> = []
            while true {
                while running.count < limit, ending == nil, !waiting.isEmpty {
                    let index = waiting.removeFirst()
                    guard let next = file.missing(of: index) else { continue }
                    running.insert(index)
                    if running.count > 1 { accompanied.formUnion(running) }
                    group.addTask { [template] in
                        await fetch(next, like: template, since: start)
                    }
                }
                guard let fetched = await group.next() else { break }
                running.remove(fetched.index)
                let wasAccompanied = accompanied.remove(fetched.index) != nil
                attempts += Self.shifted(fetched.result.attempts, by: fetched.began)
                guard ending == nil, !fetched.isDone else { continue }
                if fetched.url != request.url, Self.hasExpired(fetched.result) {
                    template = request
                    waiting.append(fetched.index)
                } else if wasAccompanied, Self.isRefusal(fetched.result) {
                    limit = max(1, min(limit - 1, running.count))
                    waiting.append(fetched.index)
                } else {
                    // The other segments can be continued in another run; in this one the content cannot be completed.
                    ending = fetched.result
                    group.cancelAll()
                }
            }
        }
        if case .failure(let error)? = ending, error.underlyingError is Download.CannotStartOver {
            let began = start.duration(to: .now)
            ending = await wholeContent(of: request)
            attempts += Self.shifted(ending?.attempts ?? [], by: began)
        }
        attempts = Self.numbered(attempts)
        if let ending { return ending.withAttempts(attempts) }
        head.attempts = attempts
        head.exchange.bytesReceived = file.size
        return .success(head)
    }

    /// Whether a result says that the server does not serve this connection, though it may serve the others.
    private static func isRefusal(_ result: HTTPResult) -> Bool {
        switch result {
        case .success(let response): response.status.rawValue >= 400
        case .failure(let error):
            [.cannotConnectToHost, .networkConnectionLost, .secureConnectionFailed, .timedOut, .retryAfterTooLong]
                .contains(error.code)
        }
    }

    /// Whether a result says that the URL of a redirect holds no longer (rule R33).
    private static func hasExpired(_ result: HTTPResult) -> Bool {
        guard case .success(let response) = result else { return false }
        return [401, 403, 404, 410].contains(response.status.rawValue)
    }

    private struct Fetched: Sendable {
        let index: Int
        let url: URL
        /// When the request began, counted from the beginning of the first one.
        let began: Duration
        let result: HTTPResult
        let isDone: Bool
    }

    /// Fetches one segment.
    private func fetch(
        _ segment: (index: Int, from: Download.Checkpoint, end: Int64),
        like first: HTTPRequest,
        since start: ContinuousClock.Instant
    ) async -> Fetched {
        let began = start.duration(to: .now)
        var request = first
        for name in ["Range", "If-Range"] { request.headers[name] = nil }
        request.timeout = timeLeft
        request.download = Download(
            to: SegmentSink(file: file, index: segment.index, progress: progress),
            from: segment.from,
            upTo: segment.end
        )
        let result = await loader.load(request)
        let isSuccess = if case .success(let response) = result { response.status.isSuccess } else { false }
        return Fetched(index: segment.index, url: first.url, began: began, result: result, isDone: isSuccess)
    }

    /// Fetches the content as a whole if it has changed since it was divided.
    private func wholeContent(of request: HTTPRequest) async -> HTTPResult {
        var request = request
        request.timeout = timeLeft
        do {
            try file.abandonSegments()
        } catch {
            return .failure(
                HTTPError(.cannotWriteToFile, request: request, underlyingError: error, message: "\(error)")
            )
        }
        request.download = file.download(to: file)
        return await loader.load(request)
    }

    private var timeLeft: Duration? { deadline.map { max(ContinuousClock.now.duration(to: $0), .milliseconds(1)) } }

    private static func shifted(_ attempts: [AttemptRecord], by began: Duration) -> [AttemptRecord] {
        attempts.map { record in
            var record = record
            record.start += began
            return record
        }
    }

    /// The attempts in the order in which they began.
    private static func numbered(_ attempts: [AttemptRecord]) -> [AttemptRecord] {
        attempts.sorted { $0.start < $1.start }.enumerated().map { index, record in
            var record = record
            record.number = index + 1
            return record
        }
    }
}

/// Receives one segment.
private final class SegmentSink: Download.Sink {
    private let file: SegmentedFile
    private let index: Int
    private let progress: TransferProgress?

    init(file: SegmentedFile, index: Int, progress: TransferProgress?) {
        self.file = file
        self.index = index
        self.progress = progress
    }

    func write(_ bytes: [UInt8]) async throws {
        try file.write(bytes, to: index)
        progress?.add(bytes.count)
    }

    /// The other segments belong to the same content, so one segment cannot start over with another one.
    func startOver() async throws { throw Download.CannotStartOver() }
    var canStartOver: Bool { false }
}
