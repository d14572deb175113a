// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
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
    ///
    /// - Parameters:
    ///   - source: the source. One that fails, or has another number of bytes than `length`, fails the request.
    ///   - length: the number of bytes that are read. Defaults to nil: all until the end.
    ///   - contentType: the media type. Defaults to none.
    public static func source(
        _ source: some ByteSource,
        length: Int64? = nil,
        contentType: String? = nil
    ) -> HTTPBody {
        // nonisolated(unsafe): the body is read by one reader at a time, and nothing else reads the source.
        nonisolated(unsafe) let chunks = ByteChunks(source: source, length: length)
        return .oneShot(chunks, length: length, contentType: contentType)
    }

    /// A source could not be read.
    public struct ByteSourceFailed: LocalizedError, Hashable, CustomStringConvertible {
        /// A sentence that describes the error.
        public var description: String { "the stream of the body could not be read" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }
}

/// The chunks of a source.
private struct ByteChunks: AsyncSequence, AsyncIteratorProtocol {
    let source: any HTTPBody.ByteSource
    /// The number of bytes to read; a source need not have an end.
    private var remaining: Int64?
    private var isOpen = false

    init(source: any HTTPBody.ByteSource, length: Int64?) {
        self.source = source
        remaining = length
    }

    func makeAsyncIterator() -> ByteChunks { self }

    mutating func next() throws -> [UInt8]? {
        if !isOpen {
            source.open()
            isOpen = true
        }
        let wanted = Int(Swift.min(remaining ?? 65_536, 65_536))
        var isFailed = false
        let chunk = [UInt8](unsafeUninitializedCapacity: 65_536) { buffer, count in
            guard wanted > 0, let start = buffer.baseAddress else { return }
            let read = source.read(start, maxLength: wanted)
            isFailed = read < 0
            count = Swift.max(0, Swift.min(read, wanted))
        }
        remaining = remaining.map { $0 - Int64(chunk.count) }
        if chunk.isEmpty { source.close() }
        if isFailed { throw HTTPBody.ByteSourceFailed() }
        return chunk.isEmpty ? nil : chunk
    }
}

extension RefrainError {
    /// A source ended before the length that a part of a form was given.
    public struct UnexpectedInputStreamLength: LocalizedError, Hashable, CustomStringConvertible {
        /// The length that was given.
        public let bytesExpected: UInt64
        /// The bytes that the source had.
        public let bytesRead: UInt64

        /// A sentence with both numbers.
        public var description: String { "a part of \(bytesExpected) bytes ended after \(bytesRead)" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }
}

extension MultipartFormData {
    /// Adds what a source has, up to a length.
    ///
    /// Up to ``encodingMemoryThreshold`` bytes are read into memory at once; more are read while they are sent, once.
    /// A source that fails, or ends before the length, fails the upload, of which nothing or only a part is sent then:
    /// the upload ends with the error, with `HTTPBody.ByteSourceFailed`, with
    /// `RefrainError.UnexpectedInputStreamLength`, or with `HTTPBody.LengthMismatch` as its cause.
    ///
    /// - Parameters:
    ///   - stream: the source.
    ///   - length: the number of bytes that are read.
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
        let count = Int64(clamping: length)
        guard length <= Self.encodingMemoryThreshold else {
            return append(.source(stream, length: count), withName: name, fileName: fileName, mimeType: mimeType)
        }
        var data = Data()
        var chunks = ByteChunks(source: stream, length: count)
        do {
            while let chunk = try chunks.next() { data.append(contentsOf: chunk) }
        } catch {
            refuse(because: error)
        }
        let read = UInt64(data.count)
        if read < length {
            refuse(because: RefrainError.UnexpectedInputStreamLength(bytesExpected: length, bytesRead: read))
        }
        append(data, withName: name, fileName: fileName, mimeType: mimeType)
    }

    /// Makes an empty form; the file manager is not used.
    public convenience init(fileManager: FileManager, boundary: String? = nil) { self.init(boundary: boundary) }
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
        with request: some Session.RequestConvertible,
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
