#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataRequest {
    /// A custom validation of the request that was sent, the response, and its body.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse, Data?) -> ValidationResult

    /// Adds a validation; the request fails with the error of the first one that fails.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        addValidation(checksStatus: false) { request, response in
            ValidationRules.error(validation(request, response, response.content))
        }
        return self
    }
}

extension DownloadRequest {
    /// A check of the caller's, given the request that was sent and the response.
    ///
    /// The response's body is in the file, or for a status other than 2xx on the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult
}

extension DataStreamRequest {
    /// A custom validation of the request that was sent and the head of the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult
}
