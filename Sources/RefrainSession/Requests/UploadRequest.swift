/// A request with a body of any size: bytes, a file, a stream or a multipart form.
///
/// Its progress is reported, and ``Request/suspend()`` pauses the transfer of the body. A retry reads a replayable body
/// again.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    // @unchecked Sendable: as `Request`; adds no state.
}
