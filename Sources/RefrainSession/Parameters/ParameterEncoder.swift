#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Puts an `Encodable` value into a request.
public protocol ParameterEncoder: Sendable {
    /// The request with its parameters; none where they are nil.
    ///
    /// - Throws: ``RefrainError/parameterEncodingFailed(error:)``, which the request fails with.
    func encode<Value: Encodable & Sendable>(_ parameters: Value?, into request: HTTPRequest) throws -> HTTPRequest
}

/// A value as JSON in the body.
public struct JSONParameterEncoder: ParameterEncoder {
    /// Keys in sorted order, no extra white space.
    public static let `default` = JSONParameterEncoder()

    private let encoder: JSONEncoder

    /// Makes the encoder; sorted keys unless told otherwise, so that the same value gives the same bytes.
    public init(encoder: JSONEncoder? = nil) {
        if let encoder {
            self.encoder = encoder
        } else {
            self.encoder = JSONEncoder()
            self.encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        }
    }

    /// The request with its parameters.
    public func encode<Value: Encodable & Sendable>(
        _ parameters: Value?,
        into request: HTTPRequest
    ) throws -> HTTPRequest {
        guard let parameters else { return request }
        var request = request
        do {
            request.body = .bytes(try encoder.encode(parameters), contentType: "application/json")
        } catch {
            throw RefrainError.parameterEncodingFailed(error: error)
        }
        return request
    }
}

/// A value in the query, or as a form in the body.
public struct URLEncodedFormParameterEncoder: ParameterEncoder, Hashable {
    /// Where the parameters go.
    public let destination: ParameterDestination
    /// How they are written.
    public let form: FormEncoding

    /// By method: the query for GET, HEAD and DELETE, else the body.
    public static let `default` = URLEncodedFormParameterEncoder()

    /// Makes the encoder.
    public init(form: FormEncoding = FormEncoding(), destination: ParameterDestination = .methodDependent) {
        self.form = form
        self.destination = destination
    }

    /// The request with its parameters; the value must have named members.
    public func encode<Value: Encodable & Sendable>(
        _ parameters: Value?,
        into request: HTTPRequest
    ) throws -> HTTPRequest {
        guard let parameters else { return request }
        let members: Parameters
        do {
            members = try FormTree.members(of: parameters)
        } catch {
            throw RefrainError.parameterEncodingFailed(error: error)
        }
        return try destination.place(form.text(of: members), into: request)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// A value as JSON in the body.
    public static var json: JSONParameterEncoder { .default }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// A value in the query, or as a form in the body.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { .default }
}
