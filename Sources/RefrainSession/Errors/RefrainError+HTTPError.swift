#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RefrainError {
    /// Makes the session's error for an error of the chain.
    init(of error: HTTPError) {
        if error.code == .callerFailed, let own = error.underlyingError as? RefrainError {
            self = own
        } else if error.code == .cancelled {
            self = .explicitlyCancelled
        } else {
            self = .sessionTaskFailed(error: error)
        }
    }

    /// Wraps this error for the chain, as an error of a request that was not sent.
    func asHTTPError(_ request: HTTPRequest?) -> HTTPError {
        HTTPError(.callerFailed, request: request ?? .none, underlyingError: self, message: "\(self)", bytesSent: 0)
    }

    /// The error of a second reader of a stream's chunks.
    static func chunksAlreadyRead(of request: HTTPRequest?) -> RefrainError {
        let message = "the chunks of a stream are for one reader, and this is a second one"
        return .sessionTaskFailed(error: HTTPError(.bodyAlreadyRead, request: request ?? .none, message: message))
    }
}

extension HTTPRequest {
    /// A placeholder for a request that could not be made.
    fileprivate static var none: HTTPRequest { HTTPRequest(URL(filePath: "/")) }
}

extension RefrainError {
    /// Returns this error with the attempts of the request.
    func recording(_ attempts: [AttemptRecord]) -> RefrainError {
        switch self {
        case .responseValidationFailed(let reason, _):
            return .responseValidationFailed(reason: reason, attempts: attempts)
        case .requestAdaptationFailed(let error, let name, _):
            return .requestAdaptationFailed(error: error, by: name, attempts: attempts)
        case .responseSerializationFailed(let reason, _):
            return .responseSerializationFailed(reason: reason, attempts: attempts)
        case .requestRetryFailed(let retryError, let original as RefrainError, let name):
            let original = original.recording(attempts)
            return .requestRetryFailed(retryError: retryError, originalError: original, by: name)
        default: return self
        }
    }
}
