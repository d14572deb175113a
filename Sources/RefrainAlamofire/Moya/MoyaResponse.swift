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

    /// Returns the body as text in UTF-8.
    ///
    /// - Throws: ``MoyaError/stringMapping(_:)`` if it is none.
    public func mapString() throws(MoyaError) -> String {
        guard let text = String(validating: data, as: UTF8.self) else { throw .stringMapping(self) }
        return text
    }

    /// Returns the body as a `Decodable` value.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - decoder: the decoder. Defaults to a `JSONDecoder`.
    ///   - failsOnEmptyData: whether an empty body is an error; if false, it is read as `{}`, or else as `[]`.
    ///     Defaults to true.
    /// - Throws: ``MoyaError/objectMapping(_:_:)``.
    public func map<Value: Decodable>(
        _ type: Value.Type,
        using decoder: JSONDecoder = JSONDecoder(),
        failsOnEmptyData: Bool = true
    ) throws(MoyaError) -> Value {
        do {
            if data.isEmpty, !failsOnEmptyData {
                if let empty = try? decoder.decode(type, from: Data("{}".utf8)) { return empty }
                return try decoder.decode(type, from: Data("[]".utf8))
            }
            return try decoder.decode(type, from: data)
        } catch {
            throw .objectMapping(error, self)
        }
    }
}

/// Why a provider has no response, or could not read one.
public enum MoyaError: Error, Sendable {
    /// The body is no text.
    case stringMapping(Response)
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
        case .stringMapping(let response), .objectMapping(_, let response), .statusCode(let response): response
        case .underlying(_, let response): response
        case .requestMapping, .parameterEncoding: nil
        }
    }

    /// The error that caused this one, or nil.
    public var underlyingError: (any Error)? {
        switch self {
        case .objectMapping(let error, _), .underlying(let error, _), .parameterEncoding(let error): error
        case .stringMapping, .statusCode, .requestMapping: nil
        }
    }
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
