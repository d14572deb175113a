#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Fetches a URL into a file.
    ///
    /// - Parameters:
    ///   - url: what is fetched, by GET.
    ///   - parameters: what is sent along in the query.
    ///   - headers: the header fields.
    ///   - fileURL: the file that the download makes, in place of one that is there. Its folder must exist.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - requestModifier: changes the request before it is used.
    public func download(
        _ url: some URLConvertible,
        parameters: Parameters? = nil,
        headers: HTTPHeaders = [:],
        to fileURL: URL,
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> DownloadRequest {
        let original = RequestMaking.make(url, .get, headers, requestModifier) { request in
            try URLEncoding.queryString.encode(request, with: parameters)
        }
        return adopting(DownloadRequest(original, to: fileURL, line: line(interceptor), session: reference))
    }
}
