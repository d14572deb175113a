// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A multipart form that is put together step by step, as in Alamofire (RFC 7578).
///
/// ```swift
/// session.upload(multipartFormData: { form in
///     form.append(Data("Ada".utf8), withName: "name")
///     form.append(photoURL, withName: "photo")
/// }, to: url)
/// ```
///
/// A part that is invalid fails the upload, or throws when the form is encoded. An array of `HTTPBody.Part` says the
/// same in one expression.
public final class MultipartFormData {
    /// The size up to which a form is encoded in memory before it is sent: 10,000,000 bytes.
    public static let encodingMemoryThreshold: UInt64 = 10_000_000

    /// The boundary between the parts.
    public let boundary: String
    /// The parts, in order.
    public private(set) var parts: [HTTPBody.Part] = []
    /// Why the form cannot be sent, or nil.
    private var refusal: (any Error)?

    /// Makes an empty form.
    ///
    /// - Parameter boundary: the boundary between the parts; an invalid one fails the upload. Defaults to a random one.
    public init(boundary: String? = nil) { self.boundary = boundary ?? HTTPBody.randomBoundary }

    /// The media type of the form, with its boundary.
    public var contentType: String { HTTPBody.multipartContentType(boundary: boundary) }

    /// The number of bytes of all parts, without their heads and boundaries; a part of unknown length counts as empty.
    public var contentLength: UInt64 {
        parts.reduce(0) { sum, part in
            let (total, overflow) = sum.addingReportingOverflow(part.contentLength)
            return overflow ? .max : total
        }
    }

    /// Adds bytes in memory.
    ///
    /// - Parameters:
    ///   - data: the bytes.
    ///   - name: the name of the form field.
    ///   - fileName: the name of the file. Defaults to nil: the part is not a file.
    ///   - mimeType: the media type. Defaults to nil: none is sent.
    public func append(_ data: Data, withName name: String, fileName: String? = nil, mimeType: String? = nil) {
        append(.bytes(data), withName: name, fileName: fileName, mimeType: mimeType)
    }

    /// Adds a local file under its own name, with the media type of its extension, or `application/octet-stream`.
    public func append(_ fileURL: URL, withName name: String) {
        let type = FileMediaType.of(extension: fileURL.pathExtension)
        parts.append(.file(name, fileURL.localPath, contentType: type))
    }

    /// Adds a local file.
    public func append(_ fileURL: URL, withName name: String, fileName: String, mimeType: String) {
        let path = fileURL.localPath
        parts.append(.file(name, path, filename: fileName, contentType: mimeType))
    }

    /// Adds any body: a stream of `HTTPBody.stream(length:contentType:_:)`, or one that can be read only once.
    public func append(
        _ body: HTTPBody,
        withName name: String,
        fileName: String? = nil,
        mimeType: String? = nil
    ) {
        var body = body
        if let mimeType { body.contentType = mimeType }
        parts.append(HTTPBody.Part(name: name, filename: fileName, body: body))
    }

    /// Makes the form invalid, because a part could not be read; the first error is kept.
    func refuse(because error: any Error) { refusal = refusal ?? error }

    /// Returns the encoded form in memory.
    ///
    /// Files are read before it returns. A form with a stream cannot be encoded in memory, only sent.
    ///
    /// - Throws: `RefrainError.createRequestFailed(error:)`. Its cause is `InvalidArgument` for an invalid boundary
    ///   or part, and for a stream; `HTTPBody.FileError` for a file that cannot be read; the error of a source, if a
    ///   part could not be read from it.
    public func encode() throws(RefrainError) -> Data {
        do {
            if let refusal { throw refusal }
            return try HTTPBody.encodedMultipart(parts, boundary: boundary)
        } catch {
            throw .createRequestFailed(error: error)
        }
    }

    /// Writes the encoded form to a file that does not exist.
    ///
    /// - Throws: as ``encode()``; the cause can be an error of writing, too.
    public func writeEncodedData(to fileURL: URL) throws(RefrainError) {
        let data = try encode()
        do {
            try data.write(to: fileURL, options: .withoutOverwriting)
        } catch {
            throw .createRequestFailed(error: error)
        }
    }

    /// The form as a body; up to `threshold` bytes it is in memory, where a change of a file no longer reaches it.
    fileprivate func body(upTo threshold: UInt64) throws -> HTTPBody {
        if let refusal { throw refusal }
        let streamed = try HTTPBody.multipart(parts, boundary: boundary)
        guard let length = streamed.length, length <= Int64(clamping: threshold),
            !parts.contains(where: \.isStream)
        else { return streamed }
        let data = try HTTPBody.encodedMultipart(parts, boundary: boundary)
        return .data(data, contentType: streamed.contentType)
    }
}

extension HTTPBody.Part {
    /// The number of bytes of the content, or 0 if it is unknown.
    fileprivate var contentLength: UInt64 {
        guard case .file(let path) = body.storage else { return UInt64(clamping: body.length ?? 0) }
        return UInt64((try? FileChunks(path: path))?.length ?? 0)
    }

    /// Whether the content is neither in memory nor a file.
    fileprivate var isStream: Bool {
        switch body.storage {
        case .bytes, .file: false
        case .restartable, .oneShot: true
        }
    }
}

extension Session {
    /// Uploads a multipart form that a closure puts together.
    ///
    /// - Parameters:
    ///   - multipartFormData: adds the parts; it is called once, before the method returns.
    ///   - url: the URL.
    ///   - threshold: up to this many bytes the form is encoded in memory before the method returns; a larger one is
    ///     read while it is sent. Nothing is written to disk. Defaults to
    ///     ``MultipartFormData/encodingMemoryThreshold``.
    ///   - method: the method. Defaults to POST.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     `Settings.startsRequestsImmediately`.
    ///   - requestModifier: changes the request of each attempt before it is used.
    public func upload(
        multipartFormData: (MultipartFormData) -> Void,
        to url: some URLConvertible,
        usingThreshold threshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let form = MultipartFormData()
        multipartFormData(form)
        return upload(
            multipartFormData: form,
            to: url,
            usingThreshold: threshold,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        )
    }

    /// Uploads a multipart form; the parameters are those of the method with a closure.
    public func upload(
        multipartFormData form: MultipartFormData,
        to url: some URLConvertible,
        usingThreshold threshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        switch Result(catching: { try form.body(upTo: threshold) }) {
        case .success(let body):
            upload(
                body,
                to: url,
                method: method,
                headers: headers,
                interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume,
                requestModifier: requestModifier
            )
        case .failure(let error): upload(InvalidForm(error: error), interceptor, shouldAutomaticallyResume)
        }
    }

    /// Uploads a multipart form as the body of a request, or of any value that converts to one.
    public func upload(
        multipartFormData: (MultipartFormData) -> Void,
        with request: some RequestConvertible,
        usingThreshold threshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest {
        let form = MultipartFormData()
        multipartFormData(form)
        return upload(
            multipartFormData: form,
            with: request,
            usingThreshold: threshold,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// Uploads a multipart form as the body of a request, or of any value that converts to one.
    public func upload(
        multipartFormData form: MultipartFormData,
        with request: some RequestConvertible,
        usingThreshold threshold: UInt64 = MultipartFormData.encodingMemoryThreshold,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> UploadRequest {
        // First, because it may add parts to the form.
        let first = FirstMade(request)
        switch Result(catching: { try form.body(upTo: threshold) }) {
        case .success(let body):
            return upload(
                body,
                with: first,
                interceptor: interceptor,
                shouldAutomaticallyResume: shouldAutomaticallyResume
            )
        case .failure(let error): return upload(InvalidForm(error: error), interceptor, shouldAutomaticallyResume)
        }
    }

    private func upload(
        _ form: InvalidForm,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?
    ) -> UploadRequest {
        upload(.empty, with: form, interceptor: interceptor, shouldAutomaticallyResume: shouldAutomaticallyResume)
    }
}

/// In place of a request whose form cannot be encoded.
private struct InvalidForm: Session.RequestConvertible {
    let error: any Error

    func asHTTPRequest() throws -> HTTPRequest { throw RefrainError.createRequestFailed(error: error) }
}

/// A convertible that was evaluated for the first attempt already.
private final class FirstMade<Base: Session.RequestConvertible>: Session.RequestConvertible {
    private let base: Base
    private let first: Locked<Result<HTTPRequest, any Error>?>

    init(_ base: Base) {
        self.base = base
        first = Locked(Result { try base.asHTTPRequest() })
    }

    func asHTTPRequest() throws -> HTTPRequest {
        let made = first.withLock { $0.take() }
        return try made?.get() ?? base.asHTTPRequest()
    }
}

/// The media types of files by extension (IANA's registry), for the parts of forms.
private enum FileMediaType {
    /// The media type of an extension in any case; `application/octet-stream` if it is not one of the common ones.
    static func of(extension name: String) -> String { types[name.lowercased()] ?? "application/octet-stream" }

    private static let types = table()

    private static func table() -> [String: String] {
        [
            "aac": "audio/aac", "avif": "image/avif", "bmp": "image/bmp", "css": "text/css", "csv": "text/csv",
            "doc": "application/msword",
            "docx": "application/vnd.openxmlformats-officedocument.wordprocessingml.document",
            "gif": "image/gif", "gz": "application/gzip", "heic": "image/heic", "htm": "text/html", "html": "text/html",
            "ics": "text/calendar", "jpeg": "image/jpeg", "jpg": "image/jpeg", "js": "text/javascript",
            "json": "application/json", "m4a": "audio/mp4", "md": "text/markdown", "mov": "video/quicktime",
            "mp3": "audio/mpeg", "mp4": "video/mp4", "ogg": "audio/ogg", "pdf": "application/pdf", "png": "image/png",
            "rtf": "application/rtf", "svg": "image/svg+xml", "tar": "application/x-tar", "tif": "image/tiff",
            "tiff": "image/tiff", "txt": "text/plain", "wav": "audio/wav", "webm": "video/webm", "webp": "image/webp",
            "xls": "application/vnd.ms-excel",
            "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
            "xml": "application/xml", "zip": "application/zip",
        ]
    }
}
