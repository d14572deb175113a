#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The future value of a download: its file, or what a serializer reads from it.
///
/// The download starts when the task is made. Cancelling a task that awaits the value cancels the download, unless the
/// task was made with `automaticallyCancelling: false`.
public struct DownloadTask<Value: Sendable>: Sendable {
    private let request: DownloadRequest
    private let cancelsAutomatically: Bool
    private let read: @Sendable (DownloadRequest) -> DataResponse<Value, RefrainError>

    init(
        _ request: DownloadRequest,
        cancelsAutomatically: Bool,
        read: @escaping @Sendable (DownloadRequest) -> DataResponse<Value, RefrainError>
    ) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        self.read = read
        request.startIfWanted()
    }

    /// Waits for the download to end, and returns its result with request, response, file and attempts.
    public var response: DataResponse<Value, RefrainError> {
        get async {
            await request.ended(cancelsAutomatically: cancelsAutomatically)
            return read(request)
        }
    }

    /// The value or the error.
    public var result: Result<Value, RefrainError> { get async { await response.result } }

    /// The value.
    ///
    /// - Throws: ``RefrainError``.
    public var value: Value { get async throws(RefrainError) { try await response.result.get() } }

    /// Cancels the download; the bytes received so far are removed.
    public func cancel() { request.cancel() }
    /// Resumes the download.
    public func resume() { request.resume() }
    /// Suspends the download.
    public func suspend() { request.suspend() }
}
