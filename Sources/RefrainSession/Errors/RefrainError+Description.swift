#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RefrainError: CustomStringConvertible {
    /// A sentence that describes the error, with a remedy if the error does not imply it.
    public var description: String {
        switch self {
        case .explicitlyCancelled: "the request was cancelled"
        case .invalidURL(let error): "the URL is invalid: \(error)"
        case .createRequestFailed(let error): "the request could not be made: \(error)"
        case .parameterEncodingFailed(let error): "the parameters could not be encoded: \(error)"
        case .requestValidationFailed(let reason): "the request was not sent: \(reason)"
        case .requestAdaptationFailed(let error, let name, _): "the adapter \(name) failed: \(error)"
        case .requestRetryFailed(let error, let original, let name):
            "the retrier \(name) failed: \(error); the attempt before it ended with: \(original)"
        case .responseValidationFailed(let reason, let attempts):
            "the response is unacceptable: \(reason)" + (attempts.budgetNote.map { ". \($0)" } ?? "")
        case .responseSerializationFailed(let reason, let attempts):
            "the response could not be read: \(reason)" + (attempts.budgetNote.map { ". \($0)" } ?? "")
        case .sessionTaskFailed(let error): "\(error)"
        case .sessionDeinitialized:
            "the session was released before its request ended: keep it, as in `let session = Session(…)`"
        case .sessionInvalidated(let error): "the session was invalidated" + (error.map { ": \($0)" } ?? "")
        }
    }
}

extension RefrainError.RequestValidationFailureReason: CustomStringConvertible {
    /// A sentence that describes what is invalid in the request.
    public var description: String {
        switch self {
        case .bodyDataInGETRequest(let length):
            "a GET must not have a body, and this one has \(length.map { "\($0) bytes" } ?? "one")"
        }
    }
}

extension RefrainError.ResponseValidationFailureReason: CustomStringConvertible {
    /// A sentence with the value found and the values accepted.
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
    /// A sentence that describes the failure and its position in the content.
    public var description: String {
        switch self {
        case .inputDataNilOrZeroLength: "it has no content"
        case .inputFileNil: "there is no file"
        case .inputFileReadFailed(let file): "its file \(file.path(percentEncoded: false)) could not be read"
        case .stringSerializationFailed(let encoding, let body): "its \(body.count) bytes are no text in \(encoding)"
        case .decodingFailed(let error, let path, _): "at \(path.isEmpty ? "its root" : path): \(error)"
        case .invalidEmptyResponse(let type): "it is empty, and \(type) has no empty value"
        case .customSerializationFailed(let error, _): "\(error)"
        }
    }
}
