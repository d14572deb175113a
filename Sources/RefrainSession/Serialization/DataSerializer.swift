#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The body as `Data`.
public struct DataResponseSerializer: ResponseSerializer {
    /// Which responses may be empty.
    public let emptyResponses: EmptyResponseRules

    /// Makes the serializer.
    public init(emptyResponses: EmptyResponseRules = .standard) { self.emptyResponses = emptyResponses }

    /// The bytes.
    ///
    /// - Throws: ``RefrainError/responseSerializationFailed(reason:attempts:)`` where there are none, and there must be
    ///   some.
    public func serialize(_ response: HTTPResponse) throws -> Data {
        try response.bytes(orEmptyBy: emptyResponses).get()
    }
}

extension HTTPResponse {
    /// The bytes of the body, which may be none where the rules say so.
    func bytes(orEmptyBy rules: EmptyResponseRules) -> Result<Data, RefrainError> {
        let bytes = content
        guard !bytes.isEmpty || rules.allow(self) else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return .success(bytes)
    }
}
