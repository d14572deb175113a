/// What one attempt came to: the result, and what the caller's validation and decoding made of it.
package struct AttemptOutcome: Sendable {
    /// The result of the exchange.
    package var result: HTTPResult
    /// The validation error; nil where the response passed, or was not validated.
    package var validationError: (any Error)?
    /// The error of the first serializer that could not read the response, or nil.
    package var serializationError: (any Error)?
    /// The error of a retrier that ended the call, or nil.
    package var retryError: (any Error)?
    /// Whether a status validation of the caller's accepted the response's status.
    package var isStatusAccepted = false

    /// Makes an outcome that nothing has validated.
    package init(_ result: HTTPResult) { self.result = result }

    /// Whether the response passed every check of the caller's and has an acceptable status.
    ///
    /// A status that the caller's validation accepted is acceptable; without such a validation one below 400 is.
    package var isSuccess: Bool {
        guard case .success(let response) = result, validationError == nil, serializationError == nil else {
            return false
        }
        return isStatusAccepted || response.status.rawValue < 400
    }
}
