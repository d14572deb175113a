extension DataStreamRequest {
    /// A check of the caller's: the request that was sent, and the head of the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult

    /// Adds a check; of several that fail, the first one's error stands.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        addValidation(isLight: false) { request, response in ValidationRules.error(validation(request, response)) }
        return self
    }

    /// Accepts these statuses only.
    @discardableResult
    public func validate(statusCode accepted: some Sequence<Int>) -> Self {
        let accepted = Set(accepted)
        addValidation(isLight: true) { _, response in
            ValidationRules.check(statusCode: response, isAccepted: accepted.contains)
        }
        return self
    }

    /// Accepts content of these types only.
    @discardableResult
    public func validate(contentType accepted: some Sequence<String>) -> Self {
        let accepted = Array(accepted)
        addValidation(isLight: true) { _, response in
            ValidationRules.check(contentType: response, in: accepted, isEmpty: response.expectedLength == 0)
        }
        return self
    }

    /// Accepts a status of 2xx with content of a type that the request's `Accept` allows.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ValidationRules.acceptableStatusCodes)
        addValidation(isLight: true) { request, response in
            ValidationRules.check(accept: request, response, isEmpty: response.expectedLength == 0)
        }
        return self
    }
}
