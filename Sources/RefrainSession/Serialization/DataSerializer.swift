#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
