#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Request {
    /// Decodes values from bytes, as `JSONDecoder` does.
    public protocol DataDecoder: Sendable {
        /// Returns the decoded value.
        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
    }
}

extension JSONDecoder: Request.DataDecoder {}

/// The decoder of calls that name none: a `JSONDecoder()` that all of them share.
///
/// A request that waits keeps its decoder. It is a type of its own, so that its settings cannot be changed.
@usableFromInline
struct StandardDecoder: Request.DataDecoder {
    private static let json = JSONDecoder()

    @usableFromInline
    init() {}

    @usableFromInline
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
        try Self.json.decode(type, from: data)
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
