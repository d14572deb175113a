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
