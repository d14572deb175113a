#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Downloads a URL to a file.
    ///
    /// - Parameters:
    ///   - url: the URL.
    ///   - method: the method. Only a GET can be resumed; other methods start over, if they may be repeated.
    ///   - parameters: the parameters, encoded by `encoding`.
    ///   - encoding: the encoding and the destination of the parameters.
    ///   - headers: the header fields.
    ///   - fileURL: the file to create or replace. Its folder must exist.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - shouldAutomaticallyResume: whether the request starts when its response is read. Defaults to nil:
    ///     ``Settings/startsRequestsImmediately``.
    ///   - requestModifier: changes the request before it is used.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders? = nil,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DownloadRequest {
        let content = ParameterContent(parameters: parameters, encoding: encoding)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .file(fileURL), interceptor, shouldAutomaticallyResume)
    }

    // As for requests: ``Parameters`` are not encoded as any value would be.
    /// Fetches a URL into a file, with parameters that are `Encodable`.
    @_disfavoredOverload
    public func download<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value? = nil,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders? = nil,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        requestModifier: RequestModifier? = nil
    ) -> DownloadRequest {
        let content = EncodableContent(value: parameters, encoder: encoder)
        let original = RequestFactory(url, method, headers, content, requestModifier)
        return downloading(original, to: .file(fileURL), interceptor, shouldAutomaticallyResume)
    }

    /// Downloads the response to an `HTTPRequest`, or to any value that converts to one, to a file.
    public func download(
        _ request: some RequestConvertible,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DownloadRequest {
        downloading(RequestFactory(request), to: .file(fileURL), interceptor, shouldAutomaticallyResume)
    }

    /// Makes and registers a download.
    func downloading(
        _ original: RequestFactory,
        to target: DownloadRequest.Target,
        resuming resumption: ResumeData? = nil,
        _ interceptor: (any RequestInterceptor)?,
        _ shouldAutomaticallyResume: Bool? = nil
    ) -> DownloadRequest {
        let chain = interceptorChain(with: interceptor)
        let request = DownloadRequest(original, to: target, resuming: resumption, interceptors: chain, session: box)
        return adopting(request, shouldAutomaticallyResume)
    }
}
