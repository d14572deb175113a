// Indirect: half a dozen places in each request keep one, and next to none of them ever has it.
/// Why a session's request failed.
///
/// Where people know Alamofire's `AFError`, they find its cases here under the same names. A failed exchange is
/// ``sessionTaskFailed(error:)``, and carries the `HTTPError` with its code and its record.
public indirect enum RefrainError: Error, Sendable {
    /// ``Request/cancel()`` was called, or the task that waited for the response was cancelled.
    case explicitlyCancelled
    /// The text given as a URL is none.
    case invalidURL(error: any Error)
    /// The request could not be made from what was given.
    case createRequestFailed(error: any Error)
    /// The parameters could not be encoded.
    case parameterEncodingFailed(error: any Error)
    /// The request was made, but must not be sent.
    case requestValidationFailed(reason: RequestValidationFailureReason)
    /// An adapter threw; `by` names its type, and `attempts` is the record of the tries up to this one.
    case requestAdaptationFailed(error: any Error, by: String, attempts: [AttemptRecord] = [])
    /// A retrier answered a failure with an error of its own; `by` names its type.
    case requestRetryFailed(retryError: any Error, originalError: any Error, by: String)
    /// The response came, and did not pass a check; `attempts` is the record of the tries that led to it.
    case responseValidationFailed(reason: ResponseValidationFailureReason, attempts: [AttemptRecord] = [])
    /// The response came, and could not be turned into the wanted value; `attempts` is the record as above.
    case responseSerializationFailed(reason: ResponseSerializationFailureReason, attempts: [AttemptRecord] = [])
    /// The transport, or a stage of the chain, could not bring a response.
    case sessionTaskFailed(error: HTTPError)
    /// The session was released while the request was under way; keep it for as long as its requests run.
    case sessionDeinitialized
    /// The session was invalidated, for this reason.
    case sessionInvalidated(error: (any Error)?)

    /// Why a request must not be sent.
    public enum RequestValidationFailureReason: Hashable, Sendable {
        /// A GET has a body of so many bytes; nil: of unknown length.
        case bodyDataInGETRequest(length: Int64?)
    }

    /// Which check a response did not pass.
    public enum ResponseValidationFailureReason: Sendable {
        /// The status is not one of those accepted.
        case unacceptableStatusCode(code: Int)
        /// The content is of a type that is not accepted.
        case unacceptableContentType(acceptableContentTypes: [String], responseContentType: String)
        /// There is content without a type, and not every type is accepted.
        case missingContentType(acceptableContentTypes: [String])
        /// A check of the caller's threw this error.
        case customValidationFailed(error: any Error)
    }

    /// Why a response could not be turned into a value; the body is kept.
    public enum ResponseSerializationFailureReason: Sendable {
        /// There is no content, where there must be some.
        case inputDataNilOrZeroLength
        /// The content is not text in the encoding named.
        case stringSerializationFailed(encoding: String, body: [UInt8])
        /// The content does not fit the type; `path` leads to the place in it.
        case decodingFailed(error: any Error, path: String, body: [UInt8])
        /// The response is empty, and the type has no empty value.
        case invalidEmptyResponse(type: String)
        /// A serializer of the caller's threw this error.
        case customSerializationFailed(error: any Error, body: [UInt8])
    }
}
