// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
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

extension URLEncoding {
    /// The part of a request that encoded parameters are added to.
    public enum Destination: Hashable, Sendable {
        /// The query for GET, HEAD and DELETE, otherwise the body.
        case methodDependent
        /// The query.
        case queryString
        /// The body.
        case httpBody

        func isQuery(for method: HTTPMethod) -> Bool {
            switch self {
            case .methodDependent: method == .get || method == .head || method == .delete
            case .queryString: true
            case .httpBody: false
            }
        }

        /// Adds form text to the destination, after an existing query.
        func add(_ text: String, into request: HTTPRequest) throws(RefrainError) -> HTTPRequest {
            var request = request
            guard isQuery(for: request.method) else {
                let type = "application/x-www-form-urlencoded; charset=utf-8"
                request.body = .bytes(Array(text.utf8), contentType: type)
                return request
            }
            guard !text.isEmpty else { return request }
            guard var parts = URLComponents(url: request.url, resolvingAgainstBaseURL: true) else {
                let url = request.url.absoluteString
                throw .parameterEncodingFailed(
                    error: InvalidArgument("url", is: url, expected: "a URL that can have a query")
                )
            }
            parts.percentEncodedQuery = [parts.percentEncodedQuery, text].compactMap { $0 }.filter { !$0.isEmpty }
                .joined(separator: "&")
            guard let url = parts.url else {
                throw .parameterEncodingFailed(error: InvalidArgument("query", is: text, expected: "a valid query"))
            }
            request.url = url
            return request
        }
    }
}

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

extension JSONEncoding {
    /// A value that JSON can represent, written with Swift literals.
    ///
    /// ```swift
    /// let parameters: Parameters = [
    ///     "name": "Ada",
    ///     "ids": [1, 2],
    ///     "address": ["city": "London", "zip": nil]
    /// ]
    /// ```
    public enum Value: Hashable, Sendable {
        /// Text.
        case string(String)
        /// An integer.
        case int(Int64)
        /// A floating-point number.
        case double(Double)
        /// A boolean.
        case bool(Bool)
        /// A list.
        case array([Value])
        /// A dictionary.
        case dictionary([String: Value])
        /// Null.
        case null
    }
}

/// Named parameters.
public typealias Parameters = [String: JSONEncoding.Value]

extension JSONEncoding.Value: ExpressibleByStringLiteral, ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByBooleanLiteral, ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral,
    ExpressibleByNilLiteral
{
    /// Makes text.
    public init(stringLiteral value: String) { self = .string(value) }
    /// Makes an integer.
    public init(integerLiteral value: Int64) { self = .int(value) }
    /// Makes a floating-point number.
    public init(floatLiteral value: Double) { self = .double(value) }
    /// Makes a boolean.
    public init(booleanLiteral value: Bool) { self = .bool(value) }
    /// Makes a list.
    public init(arrayLiteral elements: JSONEncoding.Value...) { self = .array(elements) }
    /// Makes a dictionary; the last value of a repeated key is used.
    public init(dictionaryLiteral elements: (String, JSONEncoding.Value)...) {
        self = .dictionary(Dictionary(elements) { $1 })
    }
    /// Makes null.
    public init(nilLiteral: ()) { self = .null }
}

extension JSONEncoding.Value: Codable {
    /// Decodes any value.
    public init(from decoder: any Decoder) throws {
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self = .int(value)
        } else if let value = try? container.decode(Double.self) {
            self = .double(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else if let value = try? container.decode([JSONEncoding.Value].self) {
            self = .array(value)
        } else {
            self = .dictionary(try container.decode([String: JSONEncoding.Value].self))
        }
    }

    /// Encodes the value.
    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .string(let value): try container.encode(value)
        case .int(let value): try container.encode(value)
        case .double(let value): try container.encode(value)
        case .bool(let value): try container.encode(value)
        case .array(let value): try container.encode(value)
        case .dictionary(let value): try container.encode(value)
        case .null: try container.encodeNil()
        }
    }
}
