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
    ///
    /// With a ``Destination``, it is a temporary file until the download has ended.
    public var fileURL: URL { place.withLock { $0 } }

    private let place: Locked<URL>
    private let destination: Destination?
    /// Where an earlier download stopped, which this one goes on from.
    private let resumption: ResumeData?
    private let files = Locked<Files?>(nil)
    private let kept = Locked(KeptBytes())

    private struct Files {
        let sink: Download.FileSink
        let download: Download
    }

    private struct KeptBytes {
        var isWanted = false
        var data: Data?
    }

    /// Where a download goes.
    enum Target: Sendable {
        /// To a file that is known.
        case file(URL)
        /// To a temporary file, and then to where a closure says; nil: it stays there.
        case chosen(Destination?)
    }

    init(
        _ original: RequestFactory,
        to target: Target,
        resuming resumption: ResumeData? = nil,
        interceptors: InterceptorChain,
        session: SessionBox
    ) {
        switch target {
        case .file(let fileURL):
            place = Locked(fileURL)
            destination = nil
        case .chosen(let choice):
            let name = "refrain-\(UUID().uuidString).tmp"
            place = Locked(FileManager.default.temporaryDirectory.appending(path: name))
            destination = choice
        }
        self.resumption = resumption
        super.init(original, interceptors: interceptors, session: session)
    }

    /// The bytes that the file has so far.
    public var bytesReceived: Int64 { files.withLock { $0?.download.bytesReceived ?? 0 } }

    override func prepare(_ request: HTTPRequest) throws -> HTTPRequest {
        let path = fileURL.path(percentEncoded: false)
        let sink: Download.FileSink
        let download: Download
        if let (found, checkpoint) = resumption?.open(for: path) {
            sink = found
            download = Download(to: WatchedSink(sink: sink, owner: self), from: checkpoint)
        } else {
            do {
                sink = try Download.FileSink(path: path)
            } catch {
                throw RefrainError.sessionTaskFailed(error: Self.failure(error, request))
            }
            download = Download(to: WatchedSink(sink: sink, owner: self))
        }
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
            keepOrDiscard(sink)
            return error
        }
        guard response.status.isSuccess else {
            sink.discard()
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response.status.rawValue))
        }
        do {
            try sink.finish()
        } catch {
            return .sessionTaskFailed(error: Self.failure(error, response.request))
        }
        return destination.flatMap { move(to: $0(fileURL, response), response) }
    }

    /// Moves the temporary file to its destination; returns the error if that fails.
    private func move(to target: (destinationURL: URL, options: Options), _ response: HTTPResponse) -> RefrainError? {
        let temporary = fileURL
        do {
            try temporary.move(to: target.destinationURL, target.options)
            place.withLock { $0 = target.destinationURL }
            return nil
        } catch {
            try? FileManager.default.removeItem(at: temporary)
            let code = (error as? HTTPBody.FileError)?.code ?? .cannotMoveFile
            let message = "cannot move the download to \(target.destinationURL.path(percentEncoded: false)): \(error)"
            return .sessionTaskFailed(
                error: HTTPError(code, request: response.request, underlyingError: error, message: message)
            )
        }
    }

    /// The data from which `Session.download(resumingWith:to:)` goes on, or nil.
    ///
    /// It is there after ``cancel(producingResumeData:)``, if bytes were received that the server can continue.
    public var resumeData: Data? { kept.withLock { $0.data } }

    /// Cancels the download, and keeps what has come so far for a later one, also of another process.
    ///
    /// The bytes stay in a hidden file beside the target, which ``resumeData`` names once the request has ended. They
    /// are kept only if the server gave a strong validator (RFC 9110 §13.1.5).
    @discardableResult
    public func cancel(producingResumeData: Bool) -> Self {
        kept.withLock { $0.isWanted = producingResumeData }
        return cancel()
    }

    /// Cancels the download, and calls `completion` with its ``resumeData`` when it has ended.
    ///
    /// `completion` comes before the completions of its responses.
    @preconcurrency
    @discardableResult
    public func cancel(byProducingResumeData completion: @escaping @Sendable (Data?) -> Void) -> Self {
        whenEnded(isFirst: true) { [self] in completion(resumeData) }
        return cancel(producingResumeData: true)
    }

    private func keepOrDiscard(_ sink: Download.FileSink) {
        guard kept.withLock({ $0.isWanted }), let original = try? original.get(),
            let checkpoint = files.withLock({ $0?.download.checkpoint }), let path = sink.detach()
        else { return sink.discard() }
        let data = ResumeData(original, path: path, checkpoint).encoded
        kept.withLock { $0.data = data }
        if data == nil { try? FileManager.default.removeItem(atPath: path) }
    }

    /// Reports the progress of the file.
    fileprivate func noteProgress(adding count: Int) {
        let (completed, total) = files.withLock { files in
            ((files?.download.bytesReceived ?? 0) + Int64(count), files?.download.bytesExpected)
        }
        note(downloaded: Request.TransferProgress(completed: completed, total: total))
    }

    private static func failure(_ error: HTTPBody.FileError, _ request: HTTPRequest) -> HTTPError {
        HTTPError(error.code, request: request, underlyingError: error, message: "\(error)")
    }
}

/// A sink that waits while its request is suspended, and reports its progress.
private final class WatchedSink: Download.Sink {
    private let sink: Download.FileSink
    private let owner: WeakRequest<DownloadRequest>

    init(sink: Download.FileSink, owner: DownloadRequest) {
        self.sink = sink
        self.owner = WeakRequest(owner)
    }

    func write(_ bytes: [UInt8]) async throws {
        let request = owner.request
        // A cancellation opens the gate. The chunk is written all the same, so that the file holds what was received.
        await request?.gate.pass()
        try await sink.write(bytes)
        request?.noteProgress(adding: bytes.count)
    }

    func startOver() async throws { try await sink.startOver() }
}
