#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Puts named parameters into a request.
public protocol ParameterEncoding: Sendable {
    /// The request with its parameters.
    ///
    /// - Throws: ``RefrainError/parameterEncodingFailed(error:)``, which the request fails with.
    func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest
}

/// Parameters in the query, or as a form in the body.
public struct URLEncoding: ParameterEncoding, Hashable {
    /// Where the parameters go.
    public let destination: ParameterDestination
    /// How they are written.
    public let form: FormEncoding

    /// By method: the query for GET, HEAD and DELETE, else the body.
    public static let `default` = URLEncoding()
    /// Always the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// Always the body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// Makes the encoding.
    public init(destination: ParameterDestination = .methodDependent, form: FormEncoding = FormEncoding()) {
        self.destination = destination
        self.form = form
    }

    /// The request with its parameters.
    public func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest {
        guard let parameters else { return request }
        return try destination.place(form.text(of: parameters), into: request)
    }
}

/// Parameters as JSON in the body.
public struct JSONEncoding: ParameterEncoding, Hashable {
    /// Keys in sorted order, no extra white space.
    public static let `default` = JSONEncoding()

    /// Makes the encoding.
    public init() {}

    /// The request with its parameters.
    public func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest {
        guard let parameters else { return request }
        return try JSONParameterEncoder.default.encode(parameters, into: request)
    }
}
