// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// The result of a validation.
    public typealias ValidationResult = Result<Void, any Error>

    /// Adds a validation; the request fails with the error of the first one that fails.
    ///
    /// A status of 400 or more that it lets pass is accepted: the policy does not retry it, and a download saves it.
    @discardableResult
    public func validate(
        _ validation: @escaping @Sendable (_ request: HTTPRequest?, _ response: HTTPResponse) -> ValidationResult
    ) -> Self {
        addValidation(of: .response) { request, response in ValidationRules.error(validation(request, response)) }
        return self
    }

    /// Accepts only these statuses.
    @discardableResult
    public func validate(statusCode accepted: some Sequence<Int>) -> Self {
        let accepted = Set(accepted)
        addValidation(of: .status(acceptsErrors: accepted.contains { $0 >= 400 })) { _, response in
            ValidationRules.check(statusCode: response, isAccepted: accepted.contains)
        }
        return self
    }

    /// Accepts only content of these types, such as `application/json` or `image/*`, and responses without content.
    @discardableResult
    public func validate(contentType accepted: some Sequence<String>) -> Self {
        // In order, so that the error is the same each time for a set.
        let accepted = accepted.sorted()
        let isEmpty = type(of: self).hasNoContent
        addValidation(of: .contentType) { _, response in
            ValidationRules.check(contentType: response, in: accepted, isEmpty: isEmpty(response))
        }
        return self
    }

    /// Accepts statuses 200 to 299 with content of a type that the request's `Accept` allows.
    @discardableResult
    public func validate() -> Self {
        let isEmpty = type(of: self).hasNoContent
        addValidation(of: .status(acceptsErrors: false)) { request, response in
            ValidationRules.check(statusCode: response, isAccepted: ValidationRules.acceptableStatusCodes.contains)
                ?? ValidationRules.check(accept: request, response, isEmpty: isEmpty(response))
        }
        return self
    }
}

extension DataRequest {
    /// A custom validation of the request that was sent, the response, and its body.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse, Data?) -> ValidationResult

    /// Adds a validation; the request fails with the error of the first one that fails.
    ///
    /// A status of 400 or more that it lets pass is accepted: the policy does not retry it, and a download saves it.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        addValidation(of: .response) { request, response in
            ValidationRules.error(validation(request, response, response.content))
        }
        return self
    }
}

extension DownloadRequest {
    /// A check of the caller's, given the request that was sent and the response.
    ///
    /// The response's body is in the file, or for a status other than 2xx on the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult
}

extension DataStreamRequest {
    /// A custom validation of the request that was sent and the head of the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult
}

/// The validations of responses.
private enum ValidationRules {
    /// The statuses accepted by default.
    static let acceptableStatusCodes = 200..<300

    static func check(statusCode response: HTTPResponse, isAccepted: (Int) -> Bool) -> RefrainError? {
        let code = response.status.rawValue
        guard !isAccepted(code) else { return nil }
        return .responseValidationFailed(reason: .unacceptableStatusCode(code: code))
    }

    /// Checks the content type against the accepted ones; a response without content passes.
    static func check(contentType response: HTTPResponse, in accepted: [String], isEmpty: Bool) -> RefrainError? {
        guard !isEmpty else { return nil }
        let written = response.headers[values: "Content-Type"]
        guard let type = MediaType.parse(fieldValues: written) else {
            // Without a valid type, the content is accepted only if `*/*` is.
            let acceptsAll = accepted.contains { MediaType($0)?.essence == "*/*" }
            guard !acceptsAll else { return nil }
            guard let first = written.first else {
                return .responseValidationFailed(reason: .missingContentType(acceptableContentTypes: accepted))
            }
            return .responseValidationFailed(
                reason: .unacceptableContentType(acceptableContentTypes: accepted, responseContentType: first)
            )
        }
        guard !accepted.contains(where: { MediaType($0).map { type.matches($0) } ?? false }) else { return nil }
        return .responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: accepted, responseContentType: type.essence)
        )
    }

    /// Checks the content type against the request's `Accept`.
    static func check(
        accept request: HTTPRequest,
        _ response: HTTPResponse,
        isEmpty: @autoclosure () -> Bool
    ) -> RefrainError? {
        let accept = request.headers[values: "Accept"]
        guard !accept.isEmpty, !isEmpty() else { return nil }
        let listed = accept.flatMap { $0.split(separator: ",") }.map { String($0.trimmingSpaces) }
        guard let type = MediaType.parse(fieldValues: response.headers[values: "Content-Type"]) else {
            return check(contentType: response, in: listed, isEmpty: false)
        }
        guard !type.isAcceptable(accept: accept) else { return nil }
        return .responseValidationFailed(
            reason: .unacceptableContentType(acceptableContentTypes: listed, responseContentType: type.essence)
        )
    }

    /// The session's error for the result of a custom validation.
    static func error(_ result: Request.ValidationResult) -> RefrainError? {
        guard case .failure(let error) = result else { return nil }
        return error as? RefrainError ?? .responseValidationFailed(reason: .customValidationFailed(error: error))
    }
}

extension Substring {
    fileprivate var trimmingSpaces: Substring {
        var rest = self
        while rest.first == " " || rest.first == "\t" { rest.removeFirst() }
        while rest.last == " " || rest.last == "\t" { rest.removeLast() }
        return rest
    }
}
