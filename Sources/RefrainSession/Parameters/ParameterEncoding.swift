#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Encodes named parameters into a request.
public protocol ParameterEncoding: Sendable {
    /// Returns the request with its parameters.
    ///
    /// - Throws: ``RefrainError/parameterEncodingFailed(error:)``, with which the request fails.
    func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest
}

/// Encodes parameters in the query, or as a form in the body.
public struct URLEncoding: ParameterEncoding, Hashable {
    // One reference: each call that passes an encoding, as a default does, would copy the fields to the heap.
    private let settings: Settings

    private final class Settings: Sendable {
        let destination: Destination
        let form: Form

        init(_ destination: Destination, _ form: Form) {
            self.destination = destination
            self.form = form
        }
    }

    /// The destination of the parameters.
    public var destination: Destination { settings.destination }
    /// The format of the parameters.
    public var form: Form { settings.form }

    /// An encoding for the query of GET, HEAD and DELETE, and for the body of other methods.
    public static let `default` = URLEncoding()
    /// An encoding for the query.
    public static let queryString = URLEncoding(destination: .queryString)
    /// An encoding for the body.
    public static let httpBody = URLEncoding(destination: .httpBody)

    /// Makes the encoding.
    public init(destination: Destination = .methodDependent, form: Form = Form()) {
        settings = Settings(destination, form)
    }

    /// Whether both have the same destination and format.
    public static func == (left: URLEncoding, right: URLEncoding) -> Bool {
        left.destination == right.destination && left.form == right.form
    }

    /// Mixes destination and format in.
    public func hash(into hasher: inout Hasher) {
        hasher.combine(destination)
        hasher.combine(form)
    }

    /// Returns the request with its parameters.
    public func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest {
        guard let parameters else { return request }
        return try destination.add(form.text(of: parameters), into: request)
    }
}

/// Encodes parameters as JSON in the body.
public struct JSONEncoding: ParameterEncoding, Hashable {
    /// An encoding with sorted keys and no additional white space.
    public static let `default` = JSONEncoding()

    /// Makes the encoding.
    public init() {}

    /// Returns the request with its parameters.
    public func encode(_ request: HTTPRequest, with parameters: Parameters?) throws -> HTTPRequest {
        guard let parameters else { return request }
        return try JSONParameterEncoder.default.encode(parameters, into: request)
    }
}
