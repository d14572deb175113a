#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Sends bytes in memory.
    public func upload(
        _ data: Data,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .bytes(data, contentType: nil),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        )
    }

    /// Uploads a local file, which each attempt reads again without loading it into memory.
    ///
    /// - Parameters:
    ///   - fileURL: the file. An unreadable file fails the request with `HTTPError.Code.fileDoesNotExist` or another
    ///     code of local files.
    ///   - url: the URL.
    ///   - method: the method. Defaults to POST.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used.
    public func upload(
        _ fileURL: URL,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        upload(
            .file(fileURL.path(percentEncoded: false)),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            requestModifier: requestModifier
        )
    }

    /// Sends any body: `HTTPBody.stream(length:contentType:_:)`, or one that can be read only once.
    public func upload(
        _ body: HTTPBody,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let original = RequestFactory(url, method, headers, BodyContent(body: body), requestModifier)
        return uploading(original, interceptor, shouldAutomaticallyResume)
    }

    /// Makes and registers an upload.
    func uploading(
        _ original: RequestFactory,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool?
    ) -> UploadRequest {
        adopting(
            UploadRequest(original, interceptors: interceptorChain(with: interceptor), session: box),
            shouldAutomaticallyResume
        )
    }

    /// Uploads a multipart form; files are read while they are sent, whatever their size.
    ///
    /// - Parameters:
    ///   - parts: the parts. An invalid part, or a file that does not exist, fails the request with
    ///     ``RefrainError/createRequestFailed(error:)``.
    ///   - url: the URL.
    ///   - method: the method. Defaults to POST.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used.
    public func upload(
        multipartFormData parts: [HTTPBody.Part],
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> UploadRequest {
        let content = MultipartContent(body: Result { try .multipart(parts) })
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return uploading(original, interceptor, shouldAutomaticallyResume)
    }
}
