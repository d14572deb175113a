#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension DownloadRequest {
    /// A check of the caller's, given the request that was sent and the response.
    ///
    /// The response's body is in the file, or for a status other than 2xx on the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult

    /// Adds a validation; the request fails with the error of the first one that fails.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        addValidation(checksStatus: false) { request, response in ValidationRules.error(validation(request, response)) }
        return self
    }

    /// Accepts these statuses only.
    @discardableResult
    public func validate(statusCode accepted: some Sequence<Int>) -> Self {
        let accepted = Set(accepted)
        addValidation(checksStatus: true) { _, response in
            ValidationRules.check(statusCode: response, isAccepted: accepted.contains)
        }
        return self
    }

    /// Accepts content of these types only; no content passes.
    @discardableResult
    public func validate(contentType accepted: some Sequence<String>) -> Self {
        let accepted = Array(accepted)
        addValidation(checksStatus: false) { _, response in
            let isEmpty = response.exchange.bytesReceived == 0
            return ValidationRules.check(contentType: response, in: accepted, isEmpty: isEmpty)
        }
        return self
    }

    /// Accepts statuses 200 to 299 with content of a type that the request's `Accept` allows.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ValidationRules.acceptableStatusCodes)
        addValidation(checksStatus: false) { request, response in
            ValidationRules.check(accept: request, response, isEmpty: response.exchange.bytesReceived == 0)
        }
        return self
    }
}
