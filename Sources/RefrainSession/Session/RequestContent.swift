// SPDX-License-Identifier: Apache-2.0
/// What a session's method adds to a request before the request modifier: parameters or a body.
protocol RequestContent: Sendable {
    /// Whether code of the caller's takes part, which may give another result the next time.
    var varies: Bool { get }

    /// Returns the request with the content.
    func added(to request: HTTPRequest) throws -> HTTPRequest
}

extension RequestContent {
    var varies: Bool { false }
}

/// Named parameters with their encoding.
struct ParameterContent: RequestContent {
    let parameters: Parameters?
    let encoding: any ParameterEncoding

    var varies: Bool { parameters != nil && !(encoding is URLEncoding) && !(encoding is JSONEncoding) }

    func added(to request: HTTPRequest) throws -> HTTPRequest { try encoding.encode(request, with: parameters) }
}

/// A value with its encoder.
struct EncodableContent<Value: Encodable & Sendable>: RequestContent {
    let value: Value?
    let encoder: any ParameterEncoder

    // Those of this module are asked once: a `JSONEncoder` that does not sort has members in another order each time.
    var varies: Bool {
        value != nil && !(encoder is JSONParameterEncoder) && !(encoder is URLEncodedFormParameterEncoder)
    }

    func added(to request: HTTPRequest) throws -> HTTPRequest { try encoder.encode(value, into: request) }
}

/// A body, or none.
struct BodyContent: RequestContent {
    let body: HTTPBody?

    func added(to request: HTTPRequest) -> HTTPRequest {
        guard let body else { return request }
        var request = request
        request.setContent(body)
        return request
    }
}

/// A multipart form, made once.
struct MultipartContent: RequestContent {
    let body: Result<HTTPBody, any Error>

    func added(to request: HTTPRequest) throws -> HTTPRequest {
        var request = request
        do {
            request.setContent(try body.get())
        } catch {
            throw RefrainError.createRequestFailed(error: error)
        }
        return request
    }
}

extension HTTPRequest {
    /// Sets the body; the type of a form replaces a field of the caller's, which lacks the boundary.
    mutating func setContent(_ content: HTTPBody) {
        body = content
        if content.contentType?.hasPrefix("multipart/form-data;") == true { headers.remove("Content-Type") }
    }
}
