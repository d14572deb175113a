// SPDX-License-Identifier: Apache-2.0
// Beside the forms for any convertible, so that members of `URLRequestConvertible` are found by their names alone:
// `session.request(.profile)`.
extension Session {
    /// Makes a request from a convertible.
    public func request(
        _ convertible: some URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataRequest {
        request(
            AnyConvertible(base: convertible),
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// Makes a request whose response is streamed.
    public func streamRequest(
        _ convertible: some URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil
    ) -> DataStreamRequest {
        streamRequest(
            AnyConvertible(base: convertible),
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume
        )
    }

    /// Makes a download.
    public func download(
        _ convertible: some URLRequestConvertible,
        interceptor: (any RequestInterceptor)? = nil,
        shouldAutomaticallyResume: Bool? = nil,
        to destination: DownloadRequest.Destination? = nil
    ) -> DownloadRequest {
        download(
            AnyConvertible(base: convertible),
            interceptor: interceptor,
            shouldAutomaticallyResume: shouldAutomaticallyResume,
            to: destination
        )
    }
}

/// A convertible that is none by Alamofire's name, so that the session's own forms take it.
private struct AnyConvertible: Session.RequestConvertible {
    let base: any URLRequestConvertible

    func asHTTPRequest() throws -> HTTPRequest { try base.asHTTPRequest() }
}
