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

    /// Accepts only these statuses.
    @discardableResult
    public func validate(statusCode accepted: some Sequence<Int>) -> Self {
        let accepted = Set(accepted)
        addValidation(checksStatus: true) { _, response in
            ValidationRules.check(statusCode: response, isAccepted: accepted.contains)
        }
        return self
    }

    /// Accepts only content of these types, such as `application/json` or `image/*`, and responses without content.
    @discardableResult
    public func validate(contentType accepted: some Sequence<String>) -> Self {
        let accepted = Array(accepted)
        addValidation(checksStatus: false) { _, response in
            ValidationRules.check(contentType: response, in: accepted, isEmpty: response.content.isEmpty)
        }
        return self
    }

    /// Accepts statuses 200 to 299 with content of a type that the request's `Accept` allows.
    @discardableResult
    public func validate() -> Self {
        addValidation(checksStatus: true) { request, response in
            ValidationRules.check(statusCode: response, isAccepted: ValidationRules.acceptableStatusCodes.contains)
                ?? ValidationRules.check(accept: request, response, isEmpty: response.content.isEmpty)
        }
        return self
    }
}
