/// A download that goes on where it was cut short (rule R11).
///
/// ```swift
/// let sink = try FileSink(path: "image.iso")
/// request.download = Download(to: sink)
/// let response = try await (Retry(RetryPolicy.recommended) --> Resume() --> CurlLoader()).response(for: request)
/// try sink.finish()
/// ```
///
/// It belongs to one call. ``Resume`` keeps in it how far the sink has come, and by which validator the rest is known
/// to belong to the beginning. A response of another status than 2xx leaves the sink alone, and carries its body as
/// usual; one of 400 or more the first 64 KiB of it.
public final class Download: Sendable {
    /// Where the bytes go.
    public let sink: any DownloadSink

    private let state = Locked(DownloadState())

    /// Makes a download.
    public init(to sink: any DownloadSink) { self.sink = sink }

    /// The bytes that the sink holds.
    public var bytesReceived: Int64 { state.withLock { $0.offset } }

    /// The bytes that there will be, where the server has said it.
    public var bytesExpected: Int64? { state.withLock { $0.total } }

    /// Forgets what has arrived, so that the next try asks for the whole.
    package func startOver() async throws {
        // Until the sink says that it is empty, nobody knows what it holds.
        current.isIntact = false
        try await sink.startOver()
        current = DownloadState()
    }

    /// The state as it is now; the one call that this download belongs to is the only one that changes it.
    var current: DownloadState {
        get { state.withLock { $0 } }
        set { state.withLock { $0 = newValue } }
    }
}

private enum DownloadOption: HTTPRequestOption {
    static var defaultValue: Download? { nil }
}

extension HTTPRequest {
    /// Where the response's bytes go, if not into the response; only with ``Resume`` in the chain.
    ///
    /// Only a GET can go on where it was cut short; a download by another method starts over, if it may be sent again.
    public var download: Download? {
        get { self[option: DownloadOption.self] }
        set { self[option: DownloadOption.self] = newValue }
    }
}
