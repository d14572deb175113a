#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Makes a value of each chunk of a stream.
///
/// A chunk is what the network has brought, and no more: a value that is cut in two is an error. For lines and their
/// values, `HTTPBody.lines(upTo:)` and `HTTPBody.jsonLines(of:)` join the chunks.
public protocol DataStreamSerializer: Sendable {
    /// The type of the values.
    associatedtype SerializedObject: Sendable

    /// Returns the value of a chunk.
    ///
    /// - Throws: an error, which the handler of the stream receives.
    func serialize(_ data: Data) throws -> SerializedObject
}

/// Returns chunks as they are.
public struct PassthroughStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// Returns the chunk.
    public func serialize(_ data: Data) -> Data { data }
}

/// Returns chunks as text in UTF-8; bytes that are none are replaced.
public struct StringStreamSerializer: DataStreamSerializer {
    /// Makes the serializer.
    public init() {}

    /// Returns the text of a chunk.
    public func serialize(_ data: Data) -> String { String(decoding: data, as: UTF8.self) }
}

/// Decodes each chunk.
public struct DecodableStreamSerializer<Value: Decodable & Sendable>: DataStreamSerializer {
    private let serializer: Request.DecodableSerializer<Value>

    /// Makes the serializer.
    public init(decoder: any Request.DataDecoder = JSONDecoder(), dataPreprocessor: (any DataPreprocessor)? = nil) {
        serializer = Request.DecodableSerializer(preprocessor: dataPreprocessor, decoder: decoder)
    }

    /// The decoder.
    public var decoder: any Request.DataDecoder { serializer.decoder }

    /// Returns the value of a chunk.
    ///
    /// - Throws: `RefrainError.responseSerializationFailed(reason:attempts:)`; the error of the preprocessor.
    public func serialize(_ data: Data) throws -> Value {
        try serializer.serialize(request: nil, response: nil, data: data, error: nil)
    }
}

extension DataStreamSerializer where Self == PassthroughStreamSerializer {
    /// Chunks as they are.
    public static var passthrough: PassthroughStreamSerializer { PassthroughStreamSerializer() }
}

extension DataStreamSerializer where Self == StringStreamSerializer {
    /// Chunks as text.
    public static var string: StringStreamSerializer { StringStreamSerializer() }
}

extension DataStreamSerializer {
    /// The values of chunks.
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type,
        decoder: any Request.DataDecoder = JSONDecoder(),
        dataPreprocessor: (any DataPreprocessor)? = nil
    ) -> Self where Self == DecodableStreamSerializer<Value> {
        DecodableStreamSerializer(decoder: decoder, dataPreprocessor: dataPreprocessor)
    }
}
