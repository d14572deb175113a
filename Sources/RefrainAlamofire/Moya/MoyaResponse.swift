// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The response to a target.
public struct Response: Sendable, CustomStringConvertible {
    /// The status.
    public let statusCode: Int
    /// The body.
    public let data: Data
    /// The request that was sent.
    public let request: HTTPRequest?
    /// The response with its header fields.
    public let response: HTTPResponse?

    /// Makes a response, for tests of code that takes one.
    public init(statusCode: Int, data: Data, request: HTTPRequest? = nil, response: HTTPResponse? = nil) {
        self.statusCode = statusCode
        self.data = data
        self.request = request
        self.response = response
    }

    init(_ response: HTTPResponse, request: HTTPRequest?) {
        self.init(statusCode: response.statusCode, data: response.data ?? Data(), request: request, response: response)
    }

    /// Status and length of the body.
    public var description: String { "Status Code: \(statusCode), Data Length: \(data.count)" }

    /// Returns the response, if its status is one of these.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filter(statusCodes: some RangeExpression<Int>) throws(MoyaError) -> Response {
        guard statusCodes.contains(statusCode) else { throw .statusCode(self) }
        return self
    }

    /// Returns the response, if it has this status.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filter(statusCode: Int) throws(MoyaError) -> Response {
        try filter(statusCodes: statusCode...statusCode)
    }

    /// Returns the response, if its status is 200 to 299.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filterSuccessfulStatusCodes() throws(MoyaError) -> Response { try filter(statusCodes: 200...299) }

    /// Returns the response, if its status is 200 to 399.
    ///
    /// - Throws: ``MoyaError/statusCode(_:)``.
    public func filterSuccessfulStatusAndRedirectCodes() throws(MoyaError) -> Response {
        try filter(statusCodes: 200...399)
    }

    /// Returns the body as text in UTF-8, or the text at a key path of a body of JSON.
    ///
    /// - Parameter keyPath: the names of the members that lead to the text, separated by dots. Defaults to nil: the
    ///   whole body.
    /// - Throws: ``MoyaError/stringMapping(_:)`` if it is none.
    public func mapString(atKeyPath keyPath: String? = nil) throws(MoyaError) -> String {
        guard let keyPath else {
            guard let text = String(validating: data, as: UTF8.self) else { throw .stringMapping(self) }
            return text
        }
        guard let text = try? map(String.self, atKeyPath: keyPath) else { throw .stringMapping(self) }
        return text
    }

    /// Returns the body as any JSON, of Swift's own types.
    ///
    /// - Parameter failsOnEmptyData: whether an empty body is an error; if false, it is `JSONEncoding.Value.null`.
    ///   Defaults to true.
    /// - Throws: ``MoyaError/jsonMapping(_:)``.
    public func mapJSON(failsOnEmptyData: Bool = true) throws(MoyaError) -> any Sendable {
        if data.isEmpty, !failsOnEmptyData { return JSONEncoding.Value.null }
        do {
            let serializer = JSONResponseSerializer()
            return try serializer.serialize(request: nil, response: nil, data: data, error: nil)
        } catch {
            throw .jsonMapping(self)
        }
    }

    /// Returns the body as a `Decodable` value.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - keyPath: the names of the members that lead to the value, separated by dots. Defaults to nil: the whole
    ///     body.
    ///   - decoder: the decoder. Defaults to a `JSONDecoder`.
    ///   - failsOnEmptyData: whether an empty body is an error; if false, it is read as `{}`, or else as `[{}]`, as
    ///     Moya does, or else as `[]`. Defaults to true.
    /// - Throws: ``MoyaError/objectMapping(_:_:)``.
    public func map<Value: Decodable>(
        _ type: Value.Type,
        atKeyPath keyPath: String? = nil,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) throws(MoyaError) -> Value {
        let names = keyPath?.split(separator: ".").map(String.init) ?? []
        do {
            if data.isEmpty, !failsOnEmptyData {
                for empty in ["{}", "[{}]"] {
                    if let value = try? decoder.decode(type, from: Data(empty.utf8)) { return value }
                }
                return try decoder.decode(type, from: Data("[]".utf8))
            }
            guard !names.isEmpty else { return try decoder.decode(type, from: data) }
            return try decoder.decode(Nested<Value>.self, from: data, configuration: names[...]).value
        } catch {
            throw .objectMapping(error, self)
        }
    }
}

/// The value at a path of names.
private struct Nested<Value: Decodable>: DecodableWithConfiguration {
    let value: Value

    init(from decoder: any Decoder, configuration names: ArraySlice<String>) throws {
        guard let name = names.first else {
            value = try Value(from: decoder)
            return
        }
        let members = try decoder.container(keyedBy: Name.self)
        guard names.count > 1 else {
            // By its type, because a decoder has its own way with dates, data and URLs.
            value = try members.decode(Value.self, forKey: Name(stringValue: name))
            return
        }
        value = try members.decode(Nested.self, forKey: Name(stringValue: name), configuration: names.dropFirst()).value
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

/// Why a provider has no response, or could not read one.
public enum MoyaError: Error, Sendable {
    /// The body is not text.
    case stringMapping(Response)
    /// The body is not JSON.
    case jsonMapping(Response)
    /// The body is not of the type.
    case objectMapping(any Error, Response)
    /// The status is not accepted.
    case statusCode(Response)
    /// The request failed, with the response if there is one.
    case underlying(any Error, Response?)
    /// The request could not be made.
    case requestMapping(String)
    /// The parameters could not be encoded.
    case parameterEncoding(any Error)

    /// The response, or nil.
    public var response: Response? {
        switch self {
        case .stringMapping(let response), .jsonMapping(let response), .objectMapping(_, let response),
            .statusCode(let response):
            response
        case .underlying(_, let response): response
        case .requestMapping, .parameterEncoding: nil
        }
    }

    /// The error that caused this one, or nil.
    public var underlyingError: (any Error)? {
        switch self {
        case .objectMapping(let error, _), .underlying(let error, _), .parameterEncoding(let error): error
        case .stringMapping, .jsonMapping, .statusCode, .requestMapping: nil
        }
    }
}

extension MoyaError: LocalizedError, CustomStringConvertible {
    /// One sentence, with the response or the cause.
    public var description: String {
        switch self {
        case .stringMapping(let response): "the body is not text: \(response)"
        case .jsonMapping(let response): "the body is not JSON: \(response)"
        case .objectMapping(let error, let response): "the body is not of the type: \(error); \(response)"
        case .statusCode(let response): "the status is not accepted: \(response)"
        case .underlying(let error, _): "\(error)"
        case .requestMapping(let text): "the request cannot be made: \(text)"
        case .parameterEncoding(let error): "the parameters cannot be encoded: \(error)"
        }
    }

    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension TargetTask {
    /// Named parameters, in the query or the body depending on the encoding.
    public static func requestParameters(parameters: Parameters, encoding: any ParameterEncoding) -> TargetTask {
        .requestParameters(parameters, encoding: encoding)
    }

    /// Parameters in the query, and bytes in the body.
    public static func requestCompositeData(bodyData: Data, urlParameters: Parameters) -> TargetTask {
        .requestCompositeData(bodyData, query: urlParameters)
    }

    /// Parameters in the query and in the body.
    public static func requestCompositeParameters(
        bodyParameters: Parameters,
        bodyEncoding: any ParameterEncoding,
        urlParameters: Parameters
    ) -> TargetTask {
        .requestCompositeParameters(query: urlParameters, body: bodyParameters, encoding: bodyEncoding)
    }

    /// Parameters in the query, and a multipart form.
    public static func uploadCompositeMultipart(_ parts: [HTTPBody.Part], urlParameters: Parameters) -> TargetTask {
        .uploadCompositeMultipart(parts, query: urlParameters)
    }
}
