#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension RefrainError: RetryTerminalError {
    /// Whether an outer retry loop must not repeat the request, as in `HTTPError.retriesAreExhausted`.
    public var retriesAreExhausted: Bool {
        transportError?.retriesAreExhausted ?? (attempts.retriesAreExhausted || attempts.mustNotBeRepeated)
    }

    /// The delay that the server requested of the last attempt; nil: none.
    public var minimumRetryDelay: Duration? {
        transportError?.minimumRetryDelay ?? attempts.last?.repetition.delay
    }

    /// Whether the request was cancelled, so that no loop retries it.
    ///
    /// Includes requests ended by a reset or with their session, and those of which a part threw a cancellation error,
    /// such as an adapter whose own token request was cancelled.
    public var isCancellation: Bool {
        switch self {
        case .explicitlyCancelled, .sessionDeinitialized, .sessionInvalidated: true
        default: underlyingError?.isCancellation ?? false
        }
    }

    /// The attempts that led to this error, if it carries them.
    ///
    /// ``Request/attempts`` has the record of every request.
    public var attempts: [AttemptRecord] {
        switch self {
        case .sessionTaskFailed(let error): error.attempts
        case .responseValidationFailed(_, let attempts), .responseSerializationFailed(_, let attempts),
            .requestAdaptationFailed(_, _, let attempts):
            attempts
        case .requestRetryFailed(_, let original, _): (original as? RefrainError)?.attempts ?? []
        default: []
        }
    }

    /// The error of the transport or of a stage of the chain, or nil.
    public var transportError: HTTPError? {
        switch self {
        case .sessionTaskFailed(let error): error
        case .requestRetryFailed(_, let originalError, _): (originalError as? RefrainError)?.transportError
        default: nil
        }
    }

    /// The code of the transport's error, or nil.
    public var transportCode: HTTPError.Code? { transportError?.code }

    /// The unacceptable status, or nil.
    public var responseCode: Int? {
        guard case .responseValidationFailed(.unacceptableStatusCode(let code), _) = self else { return nil }
        return code
    }

    /// The error that caused this one, or nil.
    public var underlyingError: (any Error)? {
        switch self {
        case .invalidURL(let error), .createRequestFailed(let error), .parameterEncodingFailed(let error),
            .requestAdaptationFailed(let error, _, _), .requestRetryFailed(let error, _, _):
            error
        case .sessionTaskFailed(let error): error
        case .sessionInvalidated(let error): error
        case .responseValidationFailed(.customValidationFailed(let error), _): error
        case .responseSerializationFailed(.decodingFailed(let error, _, _), _): error
        case .responseSerializationFailed(.customSerializationFailed(let error, _), _): error
        default: nil
        }
    }

    /// Whether the request was cancelled.
    public var isExplicitlyCancelledError: Bool {
        if case .explicitlyCancelled = self { return true }
        return false
    }

    /// Whether an adapter failed.
    public var isRequestAdaptationError: Bool {
        if case .requestAdaptationFailed = self { return true }
        return false
    }

    /// Whether a retrier failed.
    public var isRequestRetryError: Bool {
        if case .requestRetryFailed = self { return true }
        return false
    }

    /// Whether a check of the response failed.
    public var isResponseValidationError: Bool {
        if case .responseValidationFailed = self { return true }
        return false
    }

    /// Whether the serialization of the response failed.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { return true }
        return false
    }
}

extension RefrainError: GeneratedKeyError {
    /// The key that was generated for the request, so that an outer loop keeps it.
    package var generatedKey: OuterRetry.Key? {
        transportError?.generatedKey ?? attempts.last?.repetition.key
    }
}

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
