internal import RefrainCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request whose response is written to a file, and that resumes after an interruption.
///
/// The file is written atomically: it appears when it is complete and validated; an existing file is kept until then.
/// Only a status of 2xx creates a file; any other status fails the request, validated or not, and its body is kept in
/// ``Request/response``.
public final class DownloadRequest: Request, @unchecked Sendable {
    // @unchecked Sendable: as `Request`; its own properties are immutable or behind a lock.

    /// The file that the download makes.
    public let fileURL: URL

    private let files = Locked<Files?>(nil)

    private struct Files {
        let sink: FileSink
        let download: Download
    }

    init(
        _ original: RequestFactory,
        to fileURL: URL,
        line: InterceptorChain,
        session: SessionBox
    ) {
        self.fileURL = fileURL
        super.init(original, line: line, session: session)
    }

    /// The bytes that the file has so far.
    public var bytesReceived: Int64 { files.withLock { $0?.download.bytesReceived ?? 0 } }

    override func prepare(_ request: HTTPRequest) throws -> HTTPRequest {
        let sink: FileSink
        do {
            sink = try FileSink(path: fileURL.path(percentEncoded: false))
        } catch {
            throw RefrainError.sessionTaskFailed(error: Self.failure(error, request))
        }
        let download = Download(to: WatchedSink(sink: sink, owner: self))
        files.withLock { $0 = Files(sink: sink, download: download) }
        var request = request
        request.download = download
        return request
    }

    override func discardAttempt() async {
        guard let download = files.withLock({ $0?.download }), response?.status.isSuccess == true else { return }
        // If the sink cannot be emptied, the next attempt fails when it writes.
        try? await download.startOver()
    }

    override var settles: Bool { true }

    override func settle(_ response: HTTPResponse?, error: RefrainError?) async -> RefrainError? {
        guard let sink = files.withLock({ $0?.sink }) else { return error }
        guard error == nil, let response else {
            sink.discard()
            return error
        }
        guard response.status.isSuccess else {
            sink.discard()
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response.status.rawValue))
        }
        do {
            try sink.finish()
            return nil
        } catch {
            return .sessionTaskFailed(error: Self.failure(error, response.request))
        }
    }

    /// Reports the progress of the file.
    fileprivate func noteProgress(adding count: Int) {
        let (completed, total) = files.withLock { files in
            ((files?.download.bytesReceived ?? 0) + Int64(count), files?.download.bytesExpected)
        }
        note(downloaded: TransferProgress(completed: completed, total: total))
    }

    private static func failure(_ error: LocalFileError, _ request: HTTPRequest) -> HTTPError {
        HTTPError(error.code, request: request, underlyingError: error, message: "\(error)")
    }
}

/// A sink that waits while its request is suspended, and reports its progress.
private final class WatchedSink: DownloadSink {
    private let sink: FileSink
    private let owner: WeakRequest<DownloadRequest>

    init(sink: FileSink, owner: DownloadRequest) {
        self.sink = sink
        self.owner = WeakRequest(owner)
    }

    func write(_ bytes: [UInt8]) async throws {
        let request = owner.request
        await request?.gate.pass()
        try Task.checkCancellation()
        try await sink.write(bytes)
        request?.noteProgress(adding: bytes.count)
    }

    func startOver() async throws { try await sink.startOver() }
}
