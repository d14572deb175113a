// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// Indirect, because each request stores several optional errors, which are nearly always nil.
/// An error of a session's request.
///
/// The cases correspond to those of Alamofire's `AFError`. A failed exchange is ``sessionTaskFailed(error:)``, which
/// contains the `HTTPError` with its code and attempts.
public indirect enum RefrainError: Error, Sendable {
    /// The request was cancelled by ``Request/cancel()``, or with the task that awaited its response.
    case explicitlyCancelled
    /// The text is not a valid URL.
    case invalidURL(error: any Error)
    /// The request could not be made from its arguments.
    case createRequestFailed(error: any Error)
    /// The parameters could not be encoded.
    case parameterEncodingFailed(error: any Error)
    /// The request is invalid and was not sent.
    case requestValidationFailed(reason: RequestValidationFailureReason)
    /// An adapter threw `error`; `by` is the name of its type, and `attempts` the attempts up to this one.
    case requestAdaptationFailed(error: any Error, by: String, attempts: [AttemptRecord] = [])
    /// A retrier replaced the error of an attempt by its own; `by` is the name of its type.
    case requestRetryFailed(retryError: any Error, originalError: any Error, by: String)
    /// The response failed a validation; `attempts` are the attempts that led to it.
    case responseValidationFailed(reason: ResponseValidationFailureReason, attempts: [AttemptRecord] = [])
    /// The response could not be serialized; `attempts` are the attempts that led to it.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason, attempts: [AttemptRecord] = [])
    /// The transport or a stage of the chain failed.
    case sessionTaskFailed(error: HTTPError)
    /// The session was deallocated while the request was in flight; keep it for as long as its requests run.
    case sessionDeinitialized
    /// The session was invalidated, with this error.
    case sessionInvalidated(error: (any Error)?)

    /// Why a request is invalid.
    public enum RequestValidationFailureReason: Hashable, Sendable {
        /// A GET has a body of `length` bytes; nil if the length is unknown.
        case bodyDataInGETRequest(length: Int64?)
    }

    /// The validation that a response failed.
    public enum ResponseValidationFailureReason: Sendable {
        /// The status is not accepted.
        case unacceptableStatusCode(code: Int)
        /// The content type is not accepted.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// The content has no type, and not every type is accepted.
        case missingContentType(acceptableContentTypes: [String])
        /// A custom validation failed with this error.
        case customValidationFailed(error: any Error)
    }

    /// Why a response could not be serialized; contains the body.
    public enum ResponseSerializationFailureReason: Sendable {
        /// The body is empty and may not be.
        case inputDataNilOrZeroLength
        /// A download has no file to read the content from.
        case inputFileNil
        /// The file of a download could not be read.
        case inputFileReadFailed(at: URL)
        /// The content is not text in this encoding.
        case stringSerializationFailed(encoding: String, body: [UInt8])
        /// The content does not match the type; `path` is the position of the error in it.
        case decodingFailed(error: any Error, path: String, body: [UInt8])
        /// The response is empty, and the type has no value for that.
        case invalidEmptyResponse(type: String)
        /// A custom serializer failed with this error.
        case customSerializationFailed(error: any Error, body: [UInt8])
    }
}

extension RefrainError {
    /// What could not be made into a URL, and why.
    public struct InvalidURL: LocalizedError, CustomStringConvertible {
        /// The value that is not a URL.
        public let convertible: any URLConvertible
        /// Why it is none.
        public let underlyingError: any Error

        /// Describes a value that is not a URL.
        public init(_ convertible: any URLConvertible, dueTo error: any Error) {
            self.convertible = convertible
            underlyingError = error
        }

        /// A sentence that describes the error.
        public var description: String { "\(underlyingError)" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }
    }
}

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

    /// The time at which the server allows a retry, or nil: `HTTPError.retryAfterDate` of the transport's error.
    ///
    /// Only with the codes `retryAfterTooLong` and `circuitOpen`.
    public var retryAfterDate: WallClock.Instant? { transportError?.retryAfterDate }

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
    /// Returns this error with the attempts of the call, and with the request that the last one sent.
    func recording(_ attempts: [AttemptRecord], of request: HTTPRequest?) -> RefrainError {
        switch self {
        case .responseValidationFailed(let reason, _):
            return .responseValidationFailed(reason: reason, attempts: attempts.naming(request))
        case .requestAdaptationFailed(let error, let name, _):
            return .requestAdaptationFailed(error: error, by: name, attempts: attempts)
        case .responseSerializationFailed(let reason, _):
            return .responseSerializationFailed(reason: reason, attempts: attempts.naming(request))
        case .requestRetryFailed(let retryError, let original as RefrainError, let name):
            let original = original.recording(attempts, of: request)
            return .requestRetryFailed(retryError: retryError, originalError: original, by: name)
        default: return self
        }
    }
}

extension [AttemptRecord] {
    /// These attempts with the request that an error of the response names.
    ///
    /// Its method and URL alone: an error that is kept does not keep a body.
    fileprivate func naming(_ request: HTTPRequest?) -> [AttemptRecord] {
        guard let last = indices.last, let request else { return self }
        var attempts = self
        attempts[last].repetition.request = HTTPRequest(request.url, method: request.method)
        return attempts
    }

    /// The description of an error that ended the call, as `HTTPError` has it: request, failure and attempts.
    fileprivate func description(of failure: String) -> String {
        var text = last?.repetition.request.map { "\($0) failed: \(failure)" } ?? failure
        if let budgetNote { text += ". \(budgetNote)" }
        for attempt in self { text += "\n  \(attempt)" }
        // The failure may quote what the server sent.
        return PrintableText.plain(text)
    }
}

extension RefrainError: CustomStringConvertible {
    /// A sentence that describes the error, with a remedy if the error does not imply it.
    ///
    /// A failed exchange or validation, and a response that could not be read, are described by the request, the
    /// failure and, each on a line, the attempts.
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
            attempts.description(of: "the response is unacceptable: \(reason)")
        case .responseSerializationFailed(let reason, let attempts):
            attempts.description(of: "the response could not be read: \(reason)")
        case .sessionTaskFailed(let error): "\(error)"
        case .sessionDeinitialized:
            "the session was released before its request ended: keep it, as in `let session = Session(…)`"
        case .sessionInvalidated(let error): "the session was invalidated" + (error.map { ": \($0)" } ?? "")
        }
    }
}

extension RefrainError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
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
        case .stringSerializationFailed(let encoding, let body): "its \(body.count) bytes are not text in \(encoding)"
        case .decodingFailed(let error, let path, _): "at \(path.isEmpty ? "its root" : path): \(error)"
        case .invalidEmptyResponse(let type): "it is empty, and \(type) has no empty value"
        case .customSerializationFailed(let error, _): "\(error)"
        }
    }
}
