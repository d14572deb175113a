// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Encodes values as a web form, under Alamofire's name for `URLEncoding.Form`.
///
/// Members and the elements of a list are in the order of their text, where `page2=1` comes before `page=1`, so that a
/// port sends what Alamofire sent. `URLEncodedFormParameterEncoder.default` and `URLEncoding` have members in the order
/// of their keys, and keep that of lists.
public struct URLEncodedFormEncoder: Hashable, Sendable {
    /// The format.
    public let form: URLEncoding.Form

    /// Makes an encoder.
    public init(
        arrayEncoding: URLEncoding.Form.ArrayEncoding = .brackets,
        boolEncoding: URLEncoding.Form.BoolEncoding = .numeric,
        dataEncoding: URLEncoding.Form.DataEncoding = .base64,
        dateEncoding: URLEncoding.Form.DateEncoding = .deferredToDate,
        keyEncoding: URLEncoding.Form.KeyEncoding = .useDefaultKeys,
        keyPathEncoding: URLEncoding.Form.KeyPathEncoding = .brackets,
        nilEncoding: URLEncoding.Form.NilEncoding = .dropKey,
        spaceEncoding: URLEncoding.Form.SpaceEncoding = .percentEscaped
    ) {
        var form = URLEncoding.Form(
            arrays: arrayEncoding,
            bools: boolEncoding,
            nils: nilEncoding,
            spaces: spaceEncoding,
            keys: keyEncoding,
            keyPaths: keyPathEncoding,
            dates: dateEncoding,
            data: dataEncoding
        )
        form.followsAlamofire = true
        self.form = form
    }

    /// Returns the encoded value.
    ///
    /// - Throws: `EncodingError` if the value has no named members or contains a number that is not finite.
    public func encode(_ value: any Encodable) throws -> String {
        form.text(of: try FormTree.members(of: value, by: form))
    }

    /// Returns the encoded value in UTF-8.
    ///
    /// - Throws: `EncodingError` if the value has no named members or contains a number that is not finite.
    public func encode(_ value: any Encodable) throws -> Data {
        let text: String = try encode(value)
        return Data(text.utf8)
    }
}

extension URLEncodedFormParameterEncoder {
    /// Makes the encoder; the parameters are Alamofire's.
    public init(encoder: URLEncodedFormEncoder, destination: URLEncoding.Destination = .methodDependent) {
        self.init(form: encoder.form, destination: destination)
    }
}

extension URLEncoding {
    /// Makes the encoding; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        destination: Destination = .methodDependent,
        arrayEncoding: URLEncoding.Form.ArrayEncoding = .brackets,
        boolEncoding: URLEncoding.Form.BoolEncoding = .numeric
    ) {
        self.init(destination: destination, form: URLEncoding.Form(arrays: arrayEncoding, bools: boolEncoding))
    }
}

extension JSONParameterEncoder {
    /// With line breaks and indentation.
    public static var prettyPrinted: JSONParameterEncoder { formatted([.prettyPrinted, .sortedKeys]) }
    /// With keys in alphabetical order.
    public static var sortedKeys: JSONParameterEncoder { formatted(.sortedKeys) }

    private static func formatted(_ format: JSONEncoder.OutputFormatting) -> JSONParameterEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = format
        return JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == JSONParameterEncoder {
    /// JSON in the body, by an encoder of one's own, or else with sorted keys.
    public static func json(encoder: JSONEncoder? = nil) -> JSONParameterEncoder {
        JSONParameterEncoder(encoder: encoder)
    }
}

extension ParameterEncoder where Self == URLEncodedFormParameterEncoder {
    /// A web form in the query or the body.
    public static func urlEncodedForm(
        encoder: URLEncodedFormEncoder = URLEncodedFormEncoder(),
        destination: URLEncoding.Destination = .methodDependent
    ) -> URLEncodedFormParameterEncoder {
        URLEncodedFormParameterEncoder(encoder: encoder, destination: destination)
    }
}

extension URLEncodedFormParameterEncoder {
    /// The destination, under Alamofire's name for its type.
    public typealias Destination = URLEncoding.Destination
}

extension JSONEncoding {
    /// Encodes any JSON as the body; nil leaves the request as it is.
    ///
    /// - Throws: `RefrainError.parameterEncodingFailed(error:)` for a value that JSON cannot represent.
    public func encode(_ request: some Session.RequestConvertible, withJSONObject object: Any? = nil) throws
        -> HTTPRequest
    {
        let request = try request.asHTTPRequest()
        guard let object else { return request }
        let value: JSONEncoding.Value
        do {
            value = try JSONEncoding.Value(object)
        } catch {
            throw AFError.parameterEncodingFailed(error: error)
        }
        return try JSONParameterEncoder.default.encode(value, into: request)
    }
}

extension ParameterEncoding {
    /// Encodes a dictionary of any values.
    ///
    /// - Throws: `RefrainError.parameterEncodingFailed(error:)` for a value that JSON cannot represent.
    @_disfavoredOverload
    public func encode(_ request: HTTPRequest, with parameters: [String: Any]?) throws -> HTTPRequest {
        do {
            return try encode(request, with: parameters?.mapValues { try JSONEncoding.Value($0) })
        } catch let error as InvalidArgument {
            throw AFError.parameterEncodingFailed(error: error)
        }
    }
}

extension JSONEncoding.Value {
    /// Makes a value of any one that JSON can represent: text, numbers, booleans, URLs, nil, lists and dictionaries.
    ///
    /// A whole number is an integer, as Foundation writes it: `1.0` becomes `1`. The values of `JSONSerialization` are
    /// what they were in the text: its null is nil, and its 0 and 1 are numbers.
    ///
    /// - Throws: `InvalidArgument` for another value, and for a number whose digits would be lost.
    public init(_ value: Any) throws {
        // Foundation is not linked on Linux, so its objects are told apart by the names of their classes.
        let className = type(of: value) is AnyClass ? "\(type(of: value))" : nil
        switch value {
        case let value as JSONEncoding.Value: self = value
        case let value as any OptionalValue: self = try value.wrapped.map { try JSONEncoding.Value($0) } ?? .null
        case let value as String: self = .string(value)
        // Numbers of Foundation's that are 0 or 1 convert to booleans as well.
        case let value as Bool where className == nil || className == "__NSCFBoolean": self = .bool(value)
        case let value as any BinaryInteger:
            guard let integer = Int64(exactly: value) else { throw Self.invalid(value) }
            self = .int(integer)
        // By its digits: `0.1` in single precision is another number in double precision.
        case let value as any BinaryFloatingPoint: self = Self.number(Double("\(value)") ?? Double(value))
        case let value as Decimal:
            let number = Double("\(value)")
            guard let number, Decimal(string: "\(number)") == value else { throw Self.invalid(value) }
            self = Self.number(number)
        case let value as URL: self = .string(value.absoluteString)
        // A number of Foundation's, which is bridged.
        case let value as Int64: self = .int(value)
        case let value as Double: self = Self.number(value)
        case let value as [Any]: self = .array(try value.map { try JSONEncoding.Value($0) })
        case let value as [String: Any]: self = .dictionary(try value.mapValues { try JSONEncoding.Value($0) })
        case _ where className == "NSNull": self = .null
        default: throw Self.invalid(value)
        }
    }

    /// A whole number without a fraction, as Foundation's numbers are written.
    private static func number(_ value: Double) -> JSONEncoding.Value {
        Int64(exactly: value).map { .int($0) } ?? .double(value)
    }

    private static func invalid(_ value: Any) -> InvalidArgument {
        InvalidArgument("parameters", is: "\(type(of: value))", expected: "values that JSON can represent")
    }
}

/// An optional of any type, whose value is converted instead of it.
private protocol OptionalValue {
    var wrapped: Any? { get }
}

extension Optional: OptionalValue {
    fileprivate var wrapped: Any? { self }
}
