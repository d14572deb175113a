#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Fetches a URL into a file.
    ///
    /// - Parameters:
    ///   - url: what is fetched.
    ///   - method: by which method. Only a GET goes on where it was cut short; others start over, if they may be sent
    ///     again at all.
    ///   - parameters: what is sent along, by `encoding`.
    ///   - encoding: where the parameters go, and how.
    ///   - headers: the header fields.
    ///   - fileURL: the file that the download makes, in place of one that is there. Its folder must exist.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - requestModifier: changes the request before it is used.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Parameters? = nil,
        encoding: any ParameterEncoding = URLEncoding.default,
        headers: HTTPHeaders = [:],
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> DownloadRequest {
        let original = RequestMaking.make(url, method, headers, requestModifier) { request in
            try encoding.encode(request, with: parameters)
        }
        return adopting(DownloadRequest(original, to: fileURL, line: line(interceptor), session: reference))
    }

    /// Fetches a URL into a file, with parameters that are `Encodable`.
    public func download<Value: Encodable & Sendable>(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        parameters: Value,
        encoder: any ParameterEncoder = URLEncodedFormParameterEncoder.default,
        headers: HTTPHeaders = [:],
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> DownloadRequest {
        let original = RequestMaking.make(url, method, headers, requestModifier) { request in
            try encoder.encode(parameters, into: request)
        }
        return adopting(DownloadRequest(original, to: fileURL, line: line(interceptor), session: reference))
    }

    /// Fetches what an `HTTPRequest`, or anything that can be made into one, asks for into a file.
    public func download(
        _ request: some HTTPRequestConvertible,
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        adopting(
            DownloadRequest(RequestMaking.make(request), to: fileURL, line: line(interceptor), session: reference)
        )
    }
}
