#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Returns the body as `Data`.
public struct DataResponseSerializer: ResponseSerializer {
    /// The responses that may be empty.
    public let emptyResponses: EmptyResponseRules

    /// Makes the serializer.
    public init(emptyResponses: EmptyResponseRules = .standard) { self.emptyResponses = emptyResponses }

    /// Returns the bytes.
    ///
    /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)`` if the body is empty and may not be.
    public func serialize(_ response: HTTPResponse) throws -> Data {
        try response.bytes(orEmptyBy: emptyResponses).get()
    }
}

extension HTTPResponse {
    /// The bytes of the body; a failure if the body is empty and the rules do not allow that.
    func bytes(orEmptyBy rules: EmptyResponseRules) -> Result<Data, RefrainError> {
        let bytes = content
        guard !bytes.isEmpty || rules.allow(self) else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return .success(bytes)
    }
}
