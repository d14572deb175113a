// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request whose response is written to a file, and that resumes after an interruption.
///
/// The file is written atomically: it appears when it is complete and validated; an existing file is kept until then.
/// A status of 2xx creates a file, and so does one of 400 or more that a validation accepted, such as
/// `validate(statusCode: [404])`. Any other status fails the request, and its body is kept in ``Request/response``.
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
    private let kept = Locked<PartialDownload?>(nil)
    private let keepsPart = Locked(false)

    private struct Files {
        let sink: Download.FileSink
        let download: Download
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
        let path = fileURL.localPath
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
        if mayAcceptErrors { request.keepsErrorContent = true }
        return request
    }

    override func discardAttempt() async {
        guard let download = files.withLock({ $0?.download }), response?.status.isSuccess == true else { return }
        // If the sink cannot be emptied, the next attempt fails when it writes.
        try? await download.startOver()
    }

    override var settles: Bool { true }

    override func settle(
        _ response: HTTPResponse?,
        isAccepted: Bool,
        error: RefrainError?
    ) async -> RefrainError? {
        guard let sink = files.withLock({ $0?.sink }) else { return error }
        guard error == nil, let response else {
            keepOrDiscard(sink, after: error)
            return error
        }
        guard response.status.isSuccess || isAccepted && response.status.rawValue >= 400 else {
            sink.discard()
            return .responseValidationFailed(reason: .unacceptableStatusCode(code: response.status.rawValue))
        }
        do {
            if !response.status.isSuccess {
                // Its body was collected, as that of any error; an earlier attempt may have left the part of a file.
                try await sink.startOver()
                for try await chunk in response.body { try await sink.write(chunk) }
            }
            try sink.finish()
        } catch let error as HTTPBody.FileError {
            sink.discard()
            return .sessionTaskFailed(error: Self.failure(error, response.request))
        } catch {
            sink.discard()
            return .sessionTaskFailed(
                error: error as? HTTPError
                    ?? HTTPError(.callerFailed, request: response.request, underlyingError: error, message: "\(error)")
            )
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
            let message = "cannot move the download to \(target.destinationURL.localPath): \(error)"
            return .sessionTaskFailed(
                error: HTTPError(code, request: response.request, underlyingError: error, message: message)
            )
        }
    }

    /// The data from which `Session.download(resumingWith:to:)` goes on, or nil.
    ///
    /// It is there after ``cancel(producingResumeData:)``, and after a failure of the connection that was not retried,
    /// if bytes were received that the server can continue. The bytes of a failed download are removed with the request
    /// and its response where this was not read.
    public var resumeData: Data? { partialDownload?.resumeData }

    override var download: DownloadOutcome? {
        DownloadOutcome(fileURL: ending.outcome.error == nil ? fileURL : nil, part: partialDownload)
    }

    /// What an interrupted download has left, or nil.
    var partialDownload: PartialDownload? { kept.withLock { $0 } }

    /// Cancels the download, and keeps what has come so far for a later one, also of another process.
    ///
    /// The bytes stay in a hidden file beside the target, which ``resumeData`` names once the request has ended. They
    /// are kept only if the server gave a strong validator (RFC 9110 §13.1.5).
    @discardableResult
    public func cancel(producingResumeData: Bool) -> Self {
        keepsPart.withLock { $0 = producingResumeData }
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

    private func keepOrDiscard(_ sink: Download.FileSink, after error: RefrainError?) {
        let isWanted = keepsPart.withLock { $0 }
        guard isWanted || error?.isInterruption == true, let original = try? original.get(),
            let checkpoint = files.withLock({ $0?.download.checkpoint }), let path = sink.detach()
        else { return sink.discard() }
        guard let data = ResumeData(original, path: path, checkpoint).encoded else {
            try? FileManager.default.removeItem(atPath: path)
            return
        }
        kept.withLock { $0 = PartialDownload(data, path: path, isWanted: isWanted) }
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

extension RefrainError {
    /// Whether the connection failed, so that a later request may go on with what has come.
    fileprivate var isInterruption: Bool {
        switch self {
        case .sessionTaskFailed(let error): !error.isCancellation
        case .requestRetryFailed(_, let original, _): (original as? RefrainError)?.isInterruption ?? false
        default: false
        }
    }
}

/// The bytes of an interrupted download in their hidden file, which goes with the last reference to this, unless the
/// data that name it were read or asked for.
final class PartialDownload: Sendable {
    private let data: Data
    private let path: String
    private let isClaimed: Locked<Bool>

    init(_ data: Data, path: String, isWanted: Bool) {
        self.data = data
        self.path = path
        isClaimed = Locked(isWanted)
    }

    deinit {
        if !isClaimed.withLock({ $0 }) { try? FileManager.default.removeItem(atPath: path) }
    }

    /// The data from which a later download goes on.
    var resumeData: Data {
        isClaimed.withLock { $0 = true }
        return data
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

extension DownloadRequest {
    /// Chooses where a complete download is moved to, given the temporary file and the response.
    ///
    /// It is called once, for a response that has passed all validations. Without an option, a file that exists at the
    /// destination fails the request with `HTTPError.Code.cannotMoveFile`, and so does a folder that does not exist.
    public typealias Destination =
        @Sendable (_ temporaryURL: URL, _ response: HTTPResponse) -> (destinationURL: URL, options: Options)

    /// How a download is moved to its destination.
    public struct Options: OptionSet, Sendable {
        /// The bits of the options.
        public let rawValue: Int

        /// Makes options from their bits.
        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Creates the folders of the destination that do not exist.
        public static let createIntermediateDirectories = Options(rawValue: 1 << 0)
        /// Replaces a file that exists at the destination, once the new one is complete beside it.
        public static let removePreviousFile = Options(rawValue: 1 << 1)
    }

    /// A destination in one of the user's folders, under the last component of the URL's path.
    ///
    /// - Parameters:
    ///   - directory: the kind of folder. Defaults to the user's documents.
    ///   - domain: where the folder is looked up. Defaults to the user's home.
    ///   - options: how the file is moved. Defaults to none.
    public static func suggestedDownloadDestination(
        for directory: FileManager.SearchPathDirectory = .documentDirectory,
        in domain: FileManager.SearchPathDomainMask = .userDomainMask,
        options: Options = []
    ) -> Destination {
        { temporaryURL, response in
            let folder = FileManager.default.urls(for: directory, in: domain).first
            // One component, so that no name leads out of the folder.
            let name = response.url?.path.split(separator: "/").last.map(String.init) ?? ""
            let isUsable = !name.isEmpty && name != "." && name != ".." && !name.utf8.contains(0)
            guard let folder else { return (temporaryURL, options) }
            return (folder.appending(path: isUsable ? name : "download"), options)
        }
    }
}

extension URL {
    /// Moves this file, as the options say; a file that is there already may stay where it is.
    ///
    /// The file that it replaces stays until this one is beside it, which may be a copy to another file system.
    func move(to target: URL, _ options: DownloadRequest.Options) throws {
        guard target != self else { return }
        let files = FileManager.default
        let folder = target.deletingLastPathComponent()
        if options.contains(.createIntermediateDirectories) {
            try files.createDirectory(at: folder, withIntermediateDirectories: true)
        }
        guard options.contains(.removePreviousFile) else { return try files.moveItem(at: self, to: target) }
        let new = folder.appending(path: ".\(UUID().uuidString).part")
        do {
            try files.moveItem(at: self, to: new)
            // Only a folder is not replaced by a rename.
            let previous = try? files.attributesOfItem(atPath: target.localPath)
            if previous?[.type] as? FileAttributeType == .typeDirectory { try files.removeItem(at: target) }
            guard rename(new.localPath, target.localPath) == 0 else {
                throw HTTPBody.FileError(path: target.localPath, operation: .move, errno: errno)
            }
        } catch {
            try? files.removeItem(at: new)
            throw error
        }
    }
}

/// What a download adds to its response; one reference, because few responses have it.
final class DownloadOutcome: Sendable {
    let fileURL: URL?
    let part: PartialDownload?

    init(fileURL: URL?, part: PartialDownload?) {
        self.fileURL = fileURL
        self.part = part
    }
}
