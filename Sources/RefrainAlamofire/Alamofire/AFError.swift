// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Error {
    /// This error as that of a session's request, or nil if it is another one.
    public var asAFError: AFError? { self as? AFError }

    /// This error as that of a session's request, or else another one.
    public func asAFError(or other: @autoclosure () -> AFError) -> AFError { self as? AFError ?? other() }
}

extension RefrainError {
    /// Whether the session was deallocated while the request was in flight.
    public var isSessionDeinitializedError: Bool {
        if case .sessionDeinitialized = self { return true }
        return false
    }

    /// Whether the session was invalidated.
    public var isSessionInvalidatedError: Bool {
        if case .sessionInvalidated = self { return true }
        return false
    }

    /// Whether the URL is invalid.
    public var isInvalidURLError: Bool {
        if case .invalidURL = self { return true }
        return false
    }

    /// Whether the parameters could not be encoded.
    public var isParameterEncodingError: Bool {
        if case .parameterEncodingFailed = self { return true }
        return false
    }

    /// Whether the request could not be made.
    public var isCreateURLRequestError: Bool {
        if case .createRequestFailed = self { return true }
        return false
    }

    /// Whether the request is invalid and was not sent.
    public var isURLRequestValidationError: Bool {
        if case .requestValidationFailed = self { return true }
        return false
    }

    /// Whether the transport or a stage of the chain failed.
    public var isSessionTaskError: Bool {
        if case .sessionTaskFailed = self { return true }
        return false
    }

    /// The content types that a validation accepts, if the response has another one or none.
    public var acceptableContentTypes: [String]? {
        switch self {
        case .responseValidationFailed(.unacceptableContentType(let accepted, _), _),
            .responseValidationFailed(.missingContentType(let accepted), _):
            accepted
        default: nil
        }
    }

    /// The content type of a response that has failed the validation of it.
    public var responseContentType: String? {
        guard case .responseValidationFailed(.unacceptableContentType(_, let type), _) = self else { return nil }
        return type
    }

    /// The error for a value that is not a URL.
    public static func invalidURL(url: any URLConvertible) -> RefrainError {
        .invalidURL(error: InvalidURL(url, dueTo: InvalidArgument("url", is: "\(url)", expected: "a URL")))
    }

    /// The value that is not a URL, if that is the error.
    public var urlConvertible: (any URLConvertible)? {
        guard case .invalidURL(let error as InvalidURL) = self else { return nil }
        return error.convertible
    }

    /// The encoding in which the body is not text, if that is the error, and every platform has it.
    public var failedStringEncoding: String.Encoding? {
        guard case .responseSerializationFailed(.stringSerializationFailed(let encoding, _), _) = self else {
            return nil
        }
        return TextEncoding.named(encoding)
    }
}
