extension RefrainError: ExhaustibleError {
    /// Whether the retries of the request are used up, so that an outer loop does not try it again (rule R24).
    public var retriesAreExhausted: Bool {
        transportError?.retriesAreExhausted ?? attempts.last?.reason.endsAllRetries ?? false
    }

    /// Whether the request was called off, so that no loop sends it again (rule R9).
    ///
    /// It was cancelled, or ended by a reset or with its session, or a part of it by `CancellationError`: an adapter
    /// whose own token request was cancelled, for one.
    public var isCancellation: Bool {
        switch self {
        case .explicitlyCancelled, .sessionDeinitialized, .sessionInvalidated: true
        default: underlyingError?.saysCancelled ?? false
        }
    }

    /// Every attempt that led to this error, where a response, an adapter or a failure of the transport did (rule R29).
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

    /// The error that the transport or a stage of the chain gave, or nil.
    public var transportError: HTTPError? {
        switch self {
        case .sessionTaskFailed(let error): error
        case .requestRetryFailed(_, let originalError, _): (originalError as? RefrainError)?.transportError
        default: nil
        }
    }

    /// The code of the transport's error, or nil.
    public var transportCode: HTTPError.Code? { transportError?.code }

    /// The status that was not accepted, or nil.
    public var responseCode: Int? {
        guard case .responseValidationFailed(.unacceptableStatusCode(let code), _) = self else { return nil }
        return code
    }

    /// The error that led to this one, where there is one.
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

    /// Whether the response could not be turned into a value.
    public var isResponseSerializationError: Bool {
        if case .responseSerializationFailed = self { return true }
        return false
    }
}
