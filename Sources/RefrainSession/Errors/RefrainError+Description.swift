extension RefrainError: CustomStringConvertible {
    /// What happened, and what to do where that is not plain.
    public var description: String {
        switch self {
        case .explicitlyCancelled: "the request was cancelled"
        case .invalidURL(let error): "the URL is invalid: \(error)"
        case .createRequestFailed(let error): "the request could not be made: \(error)"
        case .parameterEncodingFailed(let error): "the parameters could not be encoded: \(error)"
        case .requestValidationFailed(let reason): "the request was not sent: \(reason)"
        case .requestAdaptationFailed(let error, let name, _): "the adapter \(name) failed: \(error)"
        case .requestRetryFailed(let error, let original, let name):
            "the retrier \(name) failed: \(error); the try before it ended with: \(original)"
        case .responseValidationFailed(let reason, _): "the response is unacceptable: \(reason)"
        case .responseSerializationFailed(let reason, _): "the response could not be read: \(reason)"
        case .sessionTaskFailed(let error): "\(error)"
        case .sessionDeinitialized:
            "the session was released while its request was under way; keep it for as long as its requests run"
        case .sessionInvalidated(let error): "the session was invalidated" + (error.map { ": \($0)" } ?? "")
        }
    }
}

extension RefrainError.RequestValidationFailureReason: CustomStringConvertible {
    /// What is wrong with the request.
    public var description: String {
        switch self {
        case .bodyDataInGETRequest(let length):
            "a GET must not have a body, and this one has \(length.map { "\($0) bytes" } ?? "one")"
        }
    }
}

extension RefrainError.ResponseValidationFailureReason: CustomStringConvertible {
    /// What was found, and what was accepted.
    public var description: String {
        switch self {
        case .unacceptableStatusCode(let code): "its status is \(code)"
        case .unacceptableContentType(let acceptable, let type):
            "its content is \(type), and accepted is \(acceptable.joined(separator: ", "))"
        case .missingContentType(let acceptable):
            "its content has no type, and accepted is \(acceptable.joined(separator: ", "))"
        case .customValidationFailed(let error): "\(error)"
        }
    }
}

extension RefrainError.ResponseSerializationFailureReason: CustomStringConvertible {
    /// What stands in the way, with the place in the content.
    public var description: String {
        switch self {
        case .inputDataNilOrZeroLength: "it has no content"
        case .stringSerializationFailed(let encoding, let body): "its \(body.count) bytes are no text in \(encoding)"
        case .decodingFailed(let error, let path, _): "at \(path.isEmpty ? "its root" : path): \(error)"
        case .invalidEmptyResponse(let type): "it is empty, and \(type) has no empty value"
        case .customSerializationFailed(let error, _): "\(error)"
        }
    }
}
