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
    /// - Throws: ``RefrainError/responseSerializationFailed(reason:)`` where there are none, and there must be some.
    public func serialize(_ response: HTTPResponse) throws -> Data {
        let bytes = response.content
        guard !bytes.isEmpty || emptyResponses.allow(response) else {
            throw RefrainError.responseSerializationFailed(reason: .inputDataNilOrZeroLength)
        }
        return bytes
    }
}
