// SPDX-License-Identifier: Apache-2.0
/// A download that resumes after an interruption.
///
/// ```swift
/// let sink = try Download.FileSink(path: "image.iso")
/// request.download = Download(to: sink)
/// let loader = Retry(RetryPolicy.recommended)
///     --> Resume()
///     --> PlatformLoader()
/// let response = try await loader.response(for: request)
/// try sink.finish()
/// ```
///
/// A download belongs to one call. It records for ``Resume`` how many bytes the sink holds, and the validator that
/// identifies the rest. A response with a status other than 2xx does not change the sink and carries its body as usual;
/// from status 400 on, only the first 64 KiB of it.
public final class Download: Sendable {
    /// The sink that receives the bytes.
    public let sink: any Sink

    private let state: Locked<DownloadState>

    /// Makes a download.
    public init(to sink: any Sink) {
        self.sink = sink
        state = Locked(DownloadState())
    }

    /// Makes a download that resumes an earlier one, or that is one of a part of the content.
    ///
    /// A server that has no ranges, or no strong validator, sends the whole content; then the sink starts over where it
    /// holds bytes, and receives more than the part.
    ///
    /// - Parameters:
    ///   - sink: receives the bytes; it holds those that the checkpoint counts.
    ///   - checkpoint: where the earlier download stopped; nil: this one starts at the beginning.
    ///   - end: the offset after the last byte that is wanted; nil, the default: the end of the content. Less than 1
    ///     counts as 1.
    public init(to sink: any Sink, from checkpoint: Checkpoint?, upTo end: Int64? = nil) {
        self.sink = sink
        var state = checkpoint.map(DownloadState.init) ?? DownloadState()
        state.end = end.map { max(1, $0) }
        self.state = Locked(state)
    }

    /// The number of bytes that the sink holds.
    public var bytesReceived: Int64 { state.withLock { $0.offset } }

    /// The total number of bytes, if the server has sent it.
    public var bytesExpected: Int64? { state.withLock { $0.total } }

    /// Where another download can resume this one; nil if nothing was received, or the server gave no strong validator.
    public var checkpoint: Checkpoint? { state.withLock { $0.offset > 0 ? $0.checkpoint : nil } }

    /// Discards the received bytes, so that the next attempt requests the whole.
    package func startOver() async throws {
        // What the sink holds is unknown until `startOver()` returns.
        current.isIntact = false
        try await sink.startOver()
        let (end, ranges) = (current.end, current.ranges)
        current = DownloadState(end: end)
        current.ranges = ranges
    }

    /// Notes how many bytes the sink holds; nothing else of the state is copied for that.
    func note(bytesReceived: Int64) { state.withLock { $0.offset = bytesReceived } }

    /// The current state.
    ///
    /// Only the call that this download belongs to changes it.
    var current: DownloadState {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

private enum DownloadOption: HTTPRequestOption {
    static var defaultValue: Download? { nil }
}

extension HTTPRequest {
    /// The download that receives the response's body instead of the response.
    ///
    /// Requires ``Resume`` in the chain. Defaults to nil.
    ///
    /// Only a GET can be resumed. A download with another method starts over, if the request is replayable.
    public var download: Download? {
        get { self[option: DownloadOption.self] }
        set { self[option: DownloadOption.self] = newValue }
    }
}

extension Download {
    /// Receives the bytes of a download.
    public protocol Sink: Sendable {
        /// Appends bytes.
        ///
        /// An error ends the attempt. The number of bytes taken is unknown then, so the next attempt begins with
        /// ``startOver()``.
        func write(_ bytes: [UInt8]) async throws

        /// Discards all bytes; the download starts over.
        ///
        /// - Throws: ``Download/CannotStartOver`` if the sink has passed on bytes that it cannot take back.
        func startOver() async throws

        /// Whether ``startOver()`` would succeed now. Defaults to true.
        var canStartOver: Bool { get }

        /// Receives a response before its content is written. Does nothing by default.
        ///
        /// An error ends the attempt. The next one begins with ``startOver()``.
        ///
        /// - Parameters:
        ///   - response: the response; its body is not to be read.
        ///   - checkpoint: where the content continues, or begins, if it can be continued after an interruption; nil:
        ///     it cannot, and starts at its beginning.
        func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws

        /// The length in bytes of a body below which the sink needs no checkpoint at its beginning.
        ///
        /// ``willReceive(_:from:)`` gets none for a shorter content. Defaults to 0.
        var minimumLengthOfCheckpoints: Int64 { get }
    }
}

extension Download.Sink {
    /// Returns true.
    public var canStartOver: Bool { true }
    /// Does nothing.
    public func willReceive(_ response: HTTPResponse, from checkpoint: Download.Checkpoint?) async throws {}
    /// Returns 0.
    public var minimumLengthOfCheckpoints: Int64 { 0 }
}

extension Download {
    /// Thrown by a sink that cannot discard the bytes it has received.
    public struct CannotStartOver: Error, Hashable, Sendable, CustomStringConvertible {
        /// Makes the error.
        public init() {}
        /// A sentence that describes the error.
        public var description: String {
            "the transfer cannot go on where it stopped, and what was delivered already cannot be taken back"
        }
    }
}

extension HTTPLoader {
    /// Downloads the content of a request into a file, which appears under its name when it is complete.
    ///
    /// ```swift
    /// let loader = Retry(.recommended) --> Resume() --> PlatformLoader()
    /// try await loader.download(request, to: "image.iso")
    /// ```
    ///
    /// A chain with ``Resume`` inside of ``Retry`` goes on where a connection broke. A chain without it collects the
    /// content in memory first, up to ``HTTPRequest/maximumBodySize``, and starts over where a connection broke.
    ///
    /// - Parameters:
    ///   - request: the request for the content.
    ///   - path: the path of the file. A file that is there is replaced when the download is complete, not before.
    /// - Returns: the response, with an empty body.
    /// - Throws: `CancellationError` where the calling task was cancelled; ``HTTPError``, with the code
    ///   ``HTTPError/Code/badServerResponse`` where the status is not a 2xx; ``HTTPBody/FileError`` where the file
    ///   cannot be written. In each case the file under the name is the one from before.
    @discardableResult
    public func download(_ request: HTTPRequest, to path: String) async throws -> HTTPResponse {
        let sink = try Download.FileSink(path: path)
        defer { sink.discard() }
        let download = Download(to: sink)
        var request = request
        request.download = download
        var response = try await responseUnlessCancelled(for: request)
        guard (200..<300).contains(response.status.rawValue) else {
            let message = "the download was answered \(response.status)"
            throw HTTPError(.badServerResponse, request: request, response: response, message: message)
        }
        // Empty where a Resume stage has passed the content on; else the content itself.
        for try await chunk in response.body { try await sink.write(chunk) }
        response.body = .empty
        try sink.finish()
        return response
    }
}
