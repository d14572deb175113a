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
        headers: HTTPHeaders = [:],
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> UploadRequest {
        upload(
            .bytes(data, contentType: nil),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            requestModifier: requestModifier
        )
    }

    /// Sends a local file, which is read anew for each try and never held in memory.
    ///
    /// - Parameters:
    ///   - fileURL: the file. One that cannot be read fails the request with `HTTPError.Code.fileDoesNotExist` or
    ///     another code of local files.
    ///   - url: where it goes.
    ///   - method: what is asked.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - requestModifier: changes the request before it is used.
    public func upload(
        _ fileURL: URL,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> UploadRequest {
        upload(
            .file(fileURL.path(percentEncoded: false)),
            to: url,
            method: method,
            headers: headers,
            interceptor: interceptor,
            requestModifier: requestModifier
        )
    }

    /// Sends any body: `HTTPBody.stream(length:contentType:_:)`, or one that can be read only once.
    public func upload(
        _ body: HTTPBody,
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> UploadRequest {
        let original = RequestMaking.make(url, method, headers, requestModifier) { request in
            var request = request
            request.body = body
            return request
        }
        return adopting(UploadRequest(original, line: line(interceptor), session: reference))
    }

    /// Sends a form of several parts; files are read while they are sent, whatever their size.
    ///
    /// - Parameters:
    ///   - parts: the parts. One that cannot be written, or a file that is not there, fails the request
    ///     with ``RefrainError/createRequestFailed(error:)``.
    ///   - url: where it goes.
    ///   - method: what is asked.
    ///   - headers: the header fields.
    ///   - interceptor: adapts and retries this request, after the session's interceptor.
    ///   - requestModifier: changes the request before it is used.
    public func upload(
        multipartFormData parts: [HTTPBody.Part],
        to url: some URLConvertible,
        method: HTTPMethod = .post,
        headers: HTTPHeaders = [:],
        interceptor: (any RequestInterceptor)? = nil,
        requestModifier: (@Sendable (inout HTTPRequest) throws -> Void)? = nil
    ) -> UploadRequest {
        let original = RequestMaking.make(url, method, headers, requestModifier) { request in
            var request = request
            do {
                request.body = try .multipart(parts)
            } catch {
                throw RefrainError.createRequestFailed(error: error)
            }
            return request
        }
        return adopting(UploadRequest(original, line: line(interceptor), session: reference))
    }
}
