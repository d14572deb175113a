public import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Session {
    /// Downloads a URL into the file at a path, as the form that takes a file URL does.
    public func download(
        _ url: some URLConvertible,
        method: HTTPMethod = .get,
        headers: HTTPHeaders? = nil,
        to path: String,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        download(url, method: method, headers: headers, to: URL(filePath: path), interceptor: interceptor)
    }

    /// Downloads a request into the file at a path, as the form that takes a file URL does.
    public func download(
        _ request: some RequestConvertible,
        to path: String,
        interceptor: (any RequestInterceptor)? = nil
    ) -> DownloadRequest {
        download(request, to: URL(filePath: path), interceptor: interceptor)
    }
}
