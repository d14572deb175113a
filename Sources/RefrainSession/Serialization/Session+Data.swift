#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Session {
    /// Loads a URL, and returns the content and the response, as `URLSession` does.
    ///
    /// ```swift
    /// let (data, response) = try await session.data(from: url)
    /// ```
    ///
    /// A response of any status is returned: look at its `statusCode`. Within `Task.retrying`, throw for a status that
    /// is worth another run; the session's own retries are made first, unless its policy is the default one.
    ///
    /// - Throws: ``RefrainError`` if there is no response; `CancellationError` if the task was cancelled.
    public func data(from url: some URLConvertible) async throws -> (Data, HTTPResponse) {
        try await content(of: request(url))
    }

    /// Loads a request, and returns the content and the response; see ``data(from:)``.
    public func data(for request: some RequestConvertible) async throws -> (Data, HTTPResponse) {
        try await content(of: self.request(request))
    }

    private func content(of request: DataRequest) async throws -> (Data, HTTPResponse) {
        let result = await request.serializingResponse().result
        try Task.checkCancellation()
        let response = try result.get()
        return (response.content, response)
    }
}
