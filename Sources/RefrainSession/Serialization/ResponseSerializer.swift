// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Converts a valid response into a value.
///
/// An error other than ``RefrainError`` becomes ``RefrainError/ResponseSerializationFailureReason``'s
/// `customSerializationFailed`, with the body.
public protocol ResponseSerializer<Value>: Sendable {
    /// The type of the value.
    associatedtype Value: Sendable

    /// Returns the value of a response.
    func serialize(_ response: HTTPResponse) throws -> Value
}

extension Empty {
    /// A type with a value for responses without content.
    public protocol Response: Sendable {
        /// The value for an empty response.
        static func emptyValue() -> Self
    }
}

/// The value of a response without content.
public struct Empty: Empty.Response, Codable, Hashable {
    /// The value for an empty response.
    public static let value = Empty()
    /// The value for an empty response.
    public static func emptyValue() -> Empty { value }
    /// Makes the value.
    public init() {}
}

extension Empty {
    /// The responses that may be empty.
    public struct Rules: Hashable, Sendable {
        /// The methods whose responses have no content.
        public var methods: Set<HTTPMethod>
        /// The statuses of responses without content.
        public var statuses: Set<HTTPStatus>

        /// HEAD, 204 and 205 (RFC 9110 §9.3.2, §15.3.5, §15.3.6).
        public static let standard = Rules(methods: [.head], statuses: [204, 205])

        /// Makes rules.
        public init(methods: Set<HTTPMethod>, statuses: Set<HTTPStatus>) {
            self.methods = methods
            self.statuses = statuses
        }

        /// Whether a response may be empty.
        public func allow(_ response: HTTPResponse) -> Bool {
            methods.contains(response.request.method) || statuses.contains(response.status)
        }
    }
}

extension Request {
    /// Returns the body as `Data`.
    public struct DataSerializer: ResponseSerializer {
        /// Changes the bytes before they are used, if set.
        public let preprocessor: (any Preprocessor)?
        /// The responses that may be empty.
        public let emptyResponses: Empty.Rules

        /// Makes the serializer.
        public init(preprocessor: (any Preprocessor)? = nil, emptyResponses: Empty.Rules = .standard) {
            self.preprocessor = preprocessor
            self.emptyResponses = emptyResponses
        }

        /// Returns the bytes.
        ///
        /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)`` if the body is empty and may not
        ///   be; the error of the preprocessor.
        public func serialize(_ response: HTTPResponse) throws -> Data {
            let bytes = try response.bytes(orEmptyBy: emptyResponses).get()
            return bytes.isEmpty ? bytes : try preprocessor.apply(to: bytes)
        }
    }
}

extension HTTPResponse {
    /// The bytes of the body; a failure if the body is empty and the rules do not allow that.
    func bytes(orEmptyBy rules: Empty.Rules) -> Result<Data, RefrainError> {
        let bytes = content
        guard !bytes.isEmpty || rules.allow(self) else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return .success(bytes)
    }
}

extension (any Request.DataSerializer.Preprocessor)? {
    /// The bytes as they are serialized.
    func apply(to bytes: Data) throws -> Data { try self?.preprocess(bytes) ?? bytes }
}

extension Request {
    /// Returns the body as text.
    ///
    /// The encoding is the given one, or that of the response's content type. If neither is set, valid UTF-8 is decoded
    /// as UTF-8, and all other bytes as ISO-8859-1, Alamofire's default. A given or declared encoding has no fallback.
    public struct StringSerializer: ResponseSerializer {
        /// Changes the bytes before they are used, if set.
        public let preprocessor: (any DataSerializer.Preprocessor)?
        /// The encoding; nil means that of the response.
        public let encoding: String.Encoding?
        /// The responses that may be empty.
        public let emptyResponses: Empty.Rules

        /// Makes the serializer.
        public init(
            preprocessor: (any DataSerializer.Preprocessor)? = nil,
            encoding: String.Encoding? = nil,
            emptyResponses: Empty.Rules = .standard
        ) {
            self.preprocessor = preprocessor
            self.encoding = encoding
            self.emptyResponses = emptyResponses
        }

        /// Returns the text.
        ///
        /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)`` if the body is empty and may not
        ///   be, or is not text in the encoding.
        public func serialize(_ response: HTTPResponse) throws -> String {
            var bytes = response.content
            guard !bytes.isEmpty else {
                guard emptyResponses.allow(response) else {
                    throw RefrainError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
                }
                return ""
            }
            bytes = try preprocessor.apply(to: bytes)
            let charset = MediaType.parse(fieldValues: response.headers[values: "Content-Type"])?[parameter: "charset"]
            let chosen = encoding ?? charset.flatMap(TextEncoding.named) ?? .utf8
            let isNamed = encoding != nil || charset != nil
            guard
                let text = String(bytes: bytes, encoding: chosen)
                    ?? (isNamed ? nil : String(bytes: bytes, encoding: .isoLatin1))
            else {
                let name = encoding.map { TextEncoding.name(of: $0) ?? "\($0)" } ?? charset ?? "utf-8"
                throw RefrainError.responseSerializationFailed(
                    reason: .stringSerializationFailed(encoding: name, body: Array(bytes))
                )
            }
            return text
        }
    }
}

extension Request {
    /// Decodes the body as a `Decodable` value.
    public struct DecodableSerializer<Value: Decodable & Sendable>: ResponseSerializer {
        /// Changes the bytes before they are used, if set.
        public let preprocessor: (any DataSerializer.Preprocessor)?
        /// The decoder.
        public let decoder: any DataDecoder
        /// The responses that may be empty; requires that the type conforms to ``Empty/Response``.
        public let emptyResponses: Empty.Rules

        /// Makes the serializer.
        public init(
            preprocessor: (any DataSerializer.Preprocessor)? = nil,
            decoder: any DataDecoder = StandardDecoder(),
            emptyResponses: Empty.Rules = .standard
        ) {
            self.preprocessor = preprocessor
            self.decoder = decoder
            self.emptyResponses = emptyResponses
        }

        /// Returns the decoded value.
        ///
        /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)``, with the position in the content
        ///   and the body.
        public func serialize(_ response: HTTPResponse) throws -> Value {
            var bytes = response.content
            guard !bytes.isEmpty else { return try emptyValue(response) }
            bytes = try preprocessor.apply(to: bytes)
            do {
                return try decoder.decode(Value.self, from: bytes)
            } catch {
                let path = (error as? DecodingError)?.position ?? ""
                throw RefrainError.responseSerializationFailed(
                    reason: .decodingFailed(error: error, path: path, body: Array(bytes))
                )
            }
        }

        private func emptyValue(_ response: HTTPResponse) throws -> Value {
            guard emptyResponses.allow(response) else {
                throw RefrainError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
            }
            guard let empty = (Value.self as? any Empty.Response.Type)?.emptyValue() as? Value else {
                throw RefrainError.responseSerializationFailed(reason: .invalidEmptyResponse(type: "\(Value.self)"))
            }
            return empty
        }
    }
}

extension DecodingError {
    /// The position of the error in the content, such as `users[3].name`.
    var position: String {
        let context: Context
        var last: (any CodingKey)?
        switch self {
        case .typeMismatch(_, let found), .valueNotFound(_, let found), .dataCorrupted(let found): context = found
        case .keyNotFound(let key, let found): (context, last) = (found, key)
        @unknown default: return ""
        }
        return (context.codingPath + (last.map { [$0] } ?? [])).reduce(into: "") { path, key in
            if let index = key.intValue {
                path += "[\(index)]"
            } else {
                path += path.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}

extension Request.DataSerializer {
    /// Changes the bytes of a response before they are serialized.
    public protocol Preprocessor: Sendable {
        /// Returns the bytes to serialize.
        ///
        /// - Throws: an error, which fails the request with
        ///   ``RefrainError/ResponseSerializationFailureReason/customSerializationFailed(error:body:)``.
        func preprocess(_ data: Data) throws -> Data
    }

    /// Changes nothing.
    public struct Passthrough: Preprocessor {
        /// Makes the preprocessor.
        public init() {}

        /// Returns the bytes.
        public func preprocess(_ data: Data) -> Data { data }
    }

    /// Drops the `)]}',\n` that Google's services put before their JSON, so that no page can load it as a script.
    public struct GoogleXSSI: Preprocessor {
        /// Makes the preprocessor.
        public init() {}

        /// Returns the bytes after the prefix, or all of them if there is none.
        public func preprocess(_ data: Data) -> Data {
            let prefix = Data(")]}',\n".utf8)
            return data.starts(with: prefix) ? Data(data.dropFirst(prefix.count)) : data
        }
    }
}

extension Request.DataSerializer.Preprocessor where Self == Request.DataSerializer.Passthrough {
    /// Changes nothing.
    public static var passthrough: Self { Self() }
}

extension Request.DataSerializer.Preprocessor where Self == Request.DataSerializer.GoogleXSSI {
    /// Drops the prefix of the JSON of Google's services.
    public static var googleXSSI: Self { Self() }
}
