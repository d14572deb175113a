/// The validations of responses.
enum ValidationRules {
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
