/// A request that sends a body of any size: bytes, a file, a stream or a form of several parts.
///
/// Its progress is counted, and ``Request/suspend()`` holds the body in mid-way. A retry reads the body anew where
/// that can be done (rule R4).
public final class UploadRequest: DataRequest, @unchecked Sendable {
    // @unchecked Sendable: as `Request`, to which it adds no state of its own.
}
