#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension HTTPBody {
    /// What `InputStream` offers, which is in a part of Foundation that is not linked on Linux.
    ///
    /// One line makes Foundation's streams such sources: `extension InputStream: HTTPBody.ByteSource {}`.
    public protocol ByteSource: AnyObject {
        /// Opens the source.
        func open()
        /// Closes the source.
        func close()
        /// Reads at most `len` bytes: returns their number, 0 at the end, or a negative number on failure.
        func read(_ buffer: UnsafeMutablePointer<UInt8>, maxLength len: Int) -> Int
    }

    /// A body that is read from a source, once, in chunks of at most 64 KiB.
    ///
    /// The source is read in the thread that sends; one that waits for a device or another thread holds it up.
    public static func source(_ source: some ByteSource, contentType: String? = nil) -> HTTPBody {
        // nonisolated(unsafe): the body is read by one reader at a time, and nothing else reads the source.
        nonisolated(unsafe) let chunks = ByteChunks(source: source)
        return .oneShot(chunks, contentType: contentType)
    }

    /// A source could not be read.
    public struct ByteSourceFailed: Error, Hashable, CustomStringConvertible {
        /// A sentence that describes the error.
        public var description: String { "the stream of the body could not be read" }
    }
}

/// The chunks of a source.
private struct ByteChunks: AsyncSequence, AsyncIteratorProtocol {
    let source: any HTTPBody.ByteSource
    private var isOpen = false

    init(source: any HTTPBody.ByteSource) { self.source = source }

    func makeAsyncIterator() -> ByteChunks { self }

    mutating func next() throws -> [UInt8]? {
        if !isOpen {
            source.open()
            isOpen = true
        }
        var isFailed = false
        let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            guard let start = buffer.baseAddress else { return }
            let read = source.read(start, maxLength: buffer.count)
            isFailed = read < 0
            count = Swift.max(0, read)
        }
        if chunk.isEmpty { source.close() }
        if isFailed { throw HTTPBody.ByteSourceFailed() }
        return chunk.isEmpty ? nil : chunk
    }
}

extension MultipartFormData {
    /// Adds what a source has, up to a length, which is read into memory at once.
    ///
    /// For large contents, add a file or ``RefrainHTTP/HTTPBody/stream(length:contentType:_:)``. A source that fails
    /// before its end counts as ended.
    ///
    /// - Parameters:
    ///   - stream: the source.
    ///   - length: the largest number of bytes that are read.
    ///   - name: the name of the form field.
    ///   - fileName: the name of the file.
    ///   - mimeType: the media type.
    public func append(
        _ stream: some HTTPBody.ByteSource,
        withLength length: UInt64,
        name: String,
        fileName: String,
        mimeType: String
    ) {
        let length = Int(clamping: length)
        var data = Data()
        var chunks = ByteChunks(source: stream)
        // No further than the length: a source need not have an end.
        while data.count < length, let chunk = try? chunks.next() { data.append(contentsOf: chunk) }
        if data.count >= length { stream.close() }
        append(Data(data.prefix(length)), withName: name, fileName: fileName, mimeType: mimeType)
    }
}

extension Session {
    /// Uploads what a source has.
    public func upload(
        _ stream: some HTTPBody.ByteSource,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .source(stream),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        )
    }

    /// Uploads what a source has, as the body of a request.
    public func upload(
        _ stream: some HTTPBody.ByteSource,
        with request: some HTTPRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest {
        upload(
            .source(stream),
            with: request,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }
}
