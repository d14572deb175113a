internal import RefrainCore

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request whose response goes to a file, and goes on where it was cut short (rule R11).
///
/// The file appears under its name only when it is whole and has passed validation; until then the one from before
/// stays. Only a status of 2xx brings a file: any other one fails the request, validated or not, and keeps its body
/// on ``Request/response``.
public final class DownloadRequest: Request, @unchecked Sendable {
    // @unchecked Sendable: as `Request`; what it adds is immutable, or behind a lock.

    /// The file that the download makes.
    public let fileURL: URL

    private let files = Locked<Files?>(nil)

    private struct Files {
        let sink: FileSink
        let download: Download
    }

    init(
        _ original: Result<HTTPRequest, RefrainError>,
        to fileURL: URL,
        line: InterceptorLine,
        session: SessionReference
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

    override func discardTry() async {
        guard let download = files.withLock({ $0?.download }), response?.status.isSuccess == true else { return }
        // A sink that cannot be emptied fails the next try when it is written to.
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

    /// Tells how far the file has come.
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

/// A sink that waits while its request is suspended, and tells how far it has come.
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
