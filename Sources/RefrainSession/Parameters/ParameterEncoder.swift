#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Encodes an `Encodable` value into a request.
public protocol ParameterEncoder: Sendable {
    /// Returns the request with its parameters; returns it unchanged if they are nil.
    ///
    /// - Throws: ``RefrainError/parameterEncodingFailed(error:)``, with which the request fails.
    func encode<Value: Encodable & Sendable>(_ parameters: Value?, into request: HTTPRequest) throws -> HTTPRequest
}

/// Encodes a value as JSON in the body.
public struct JSONParameterEncoder: ParameterEncoder {
    /// An encoder with sorted keys and no additional white space.
    public static let `default` = JSONParameterEncoder()

    private let encoder: JSONEncoder

    /// Makes the encoder; by default with sorted keys, so that equal values give equal bytes.
    public init(encoder: JSONEncoder? = nil) {
        if let encoder {
            self.encoder = encoder
        } else {
            self.encoder = JSONEncoder()
            self.encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        }
    }

    /// Returns the request with its parameters.
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

/// Encodes a value in the query, or as a form in the body.
public struct URLEncodedFormParameterEncoder: ParameterEncoder, Hashable {
    /// The destination of the parameters.
    public let destination: URLEncoding.Destination
    /// The format of the parameters.
    public let form: URLEncoding.Form

    /// An encoder for the query of GET, HEAD and DELETE, and for the body of other methods.
    public static let `default` = URLEncodedFormParameterEncoder()

    /// Makes the encoder.
    public init(form: URLEncoding.Form = URLEncoding.Form(), destination: URLEncoding.Destination = .methodDependent) {
        self.form = form
        self.destination = destination
    }

    /// Returns the request with its parameters; throws if the value has no named members.
    public func encode<Value: Encodable & Sendable>(
        _ parameters: Value?,
        into request: HTTPRequest
    ) throws -> HTTPRequest {
        guard let parameters else { return request }
        let members: Parameters
        do {
            members = try FormTree.members(of: parameters, by: form)
        } catch {
            throw RefrainError.parameterEncodingFailed(error: error)
        }
        return try destination.add(form.text(of: members), into: request)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// Encodes a value as JSON in the body.
    public static var json: JSONParameterEncoder { .default }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// Encodes a value in the query, or as a form in the body.
    public static var urlEncodedForm: URLEncodedFormParameterEncoder { .default }
}
