// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request whose response is collected in memory.
///
/// Bodies over `HTTPRequest.maximumBodySize` fail; download those, or read them as a stream.
public class DataRequest: Request, @unchecked Sendable {
    // @unchecked Sendable: as `Request`; adds no state.

    /// The body of the last attempt's response, or nil.
    public var data: Data? { response.map(\.content) }

    override class var hasNoContent: @Sendable (HTTPResponse) -> Bool { { $0.content.isEmpty } }
}

extension HTTPResponse {
    /// The bytes of a body that was collected.
    var content: Data { data ?? Data() }
}

/// A request with a body of any size: bytes, a file, a stream or a multipart form.
///
/// Its progress is reported, and ``Request/suspend()`` pauses the transfer of the body. A retry reads a replayable body
/// again.
public final class UploadRequest: DataRequest, @unchecked Sendable {
    // @unchecked Sendable: as `Request`; adds no state.
}
