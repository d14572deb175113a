#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
