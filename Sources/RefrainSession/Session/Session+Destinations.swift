#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Downloads a URL to a file that is chosen when the download is complete.
    ///
    /// ```swift
    /// let destination: DownloadRequest.Destination = { _, response in
    ///     (folder.appending(path: "image.png"), [.createIntermediateDirectories, .removePreviousFile])
    /// }
    /// let saved = try await session.download(url, to: destination).validate().serializingDownloadedFileURL().value
    /// ```
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - method: the method. Only a GET can be resumed; other methods start over, if they may be repeated.
    ///   - parameters: the parameters, encoded by `encoding`.
    ///   - encoding: the encoding and the destination of the parameters.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request of each attempt before it is used.
    ///   - destination: chooses the file. Defaults to nil: a temporary file, which the caller removes.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let content = ParameterContent(parameters: parameters, encoding: encoding)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    // As for requests: ``Parameters`` are not encoded as any value would be.
    /// Downloads a URL to a file that is chosen later, with parameters that are `Encodable`.
    @_disfavoredOverload
    public func download<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        let content = EncodableContent(value: parameters, encoder: encoder)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Downloads the response to any value that converts to an `HTTPRequest` to a file that is chosen later.
    public func download(
        _ request: some RequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        downloading(RequestFactory(request), to: .chosen(destination), interceptor, shouldAutomaticallyResume)
    }

    /// Goes on with a download that was cancelled with ``DownloadRequest/cancel(producingResumeData:)``.
    ///
    /// It requests the rest with `Range` and `If-Range` (RFC 9110 §13.1.5, §14.2), and starts over if the content has
    /// changed or the bytes are gone. Data of another kind fails the request with
    /// ``RefrainError/createRequestFailed(error:)``.
    ///
    /// - Parameters:
    ///   - data: the ``DownloadRequest/resumeData``. It contains no credentials; pass an interceptor that adds them.
    ///   - fileURL: the file to create or replace, on the volume of the first download's file.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    public func download(
        resumingWith data: Data,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        resuming(data, to: .file(fileURL), interceptor)
    }

    /// Goes on with a cancelled download, to a file that is chosen when it is complete.
    ///
    /// - Parameters:
    ///   - data: the ``DownloadRequest/resumeData``. It contains no credentials; pass an interceptor that adds them.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - destination: chooses the file. Defaults to nil: a temporary file, which the caller removes.
    public func download(
        resumingWith data: Data,
        interceptor: (any RequestInterceptor)? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest { resuming(data, to: .chosen(destination), interceptor) }

    private func resuming(
        _ data: Data,
        to target: DownloadRequest.Target,
        _ interceptor: (any RequestInterceptor)?
    ) -> DownloadRequest {
        let resumption = Result { try ResumeData(decoding: data) }
        let original = RequestFactory(ResumedRequest(resumption: resumption))
        return downloading(original, to: target, resuming: try? resumption.get(), interceptor)
    }
}

private struct ResumedRequest: Session.RequestConvertible {
    let resumption: Result<ResumeData, any Error>

    func asHTTPRequest() throws -> HTTPRequest { try resumption.get().request() }
}
