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
    public struct InvalidURL: Error, CustomStringConvertible {
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
    }
}
