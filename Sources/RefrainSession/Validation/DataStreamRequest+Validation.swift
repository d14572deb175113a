extension DataStreamRequest {
    /// A custom validation of the request that was sent and the head of the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult

    /// Adds a validation; the request fails with the error of the first one that fails.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        addValidation(checksStatus: false) { request, response in ValidationRules.error(validation(request, response)) }
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

    /// Accepts only content of these types.
    @discardableResult
    public func validate(contentType accepted: some Sequence<String>) -> Self {
        let accepted = Array(accepted)
        addValidation(checksStatus: false) { _, response in
            ValidationRules.check(contentType: response, in: accepted, isEmpty: response.expectedLength == 0)
        }
        return self
    }

    /// Accepts statuses 200 to 299 with content of a type that the request's `Accept` allows.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ValidationRules.acceptableStatusCodes)
        addValidation(checksStatus: false) { request, response in
            ValidationRules.check(accept: request, response, isEmpty: response.expectedLength == 0)
        }
        return self
    }
}
