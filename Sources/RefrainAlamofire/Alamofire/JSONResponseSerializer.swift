#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Reads the body as any JSON: dictionaries by text, lists, text, numbers, booleans, and `JSONEncoding.Value.null`.
///
/// The values are those of Swift, not of `JSONSerialization`. A type of one's own, read by
/// `Request.DecodableSerializer`, says more and checks more.
public struct JSONResponseSerializer: ResponseSerializer {
    private let serializer: Request.DecodableSerializer<JSONEncoding.Value>

    /// Makes the serializer; the parameters are Alamofire's.
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) {
        serializer = Request.DecodableSerializer(
            dataPreprocessor: dataPreprocessor,
            decoder: JSONDecoder(),
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }

    /// Returns the value; `JSONEncoding.Value.null` for a response that may be empty and is.
    ///
    /// - Throws: `RefrainError.responseSerializationFailed(reason:attempts:)`.
    public func serialize(_ response: HTTPResponse) throws -> any Sendable {
        let isEmpty = response.data?.isEmpty ?? true
        if isEmpty, serializer.emptyResponses.allow(response) { return JSONEncoding.Value.null }
        do {
            return try serializer.serialize(response).plain
        } catch AFError.responseSerializationFailed(.decodingFailed(let error, let path, let body), let attempts) {
            // The error of `JSONSerialization`, which has no other one.
            let user = ["NSDebugDescription": "\(error)"]
            let corrupt = CocoaError(.propertyListReadCorrupt, userInfo: user)
            throw AFError.responseSerializationFailed(
                reason: .decodingFailed(error: corrupt, path: path, body: body),
                attempts: attempts
            )
        }
    }
}

extension JSONEncoding.Value {
    /// This value as one of the standard library's types.
    fileprivate var plain: any Sendable {
        switch self {
        case .string(let text): text
        case .int(let number): Int(exactly: number) ?? number
        case .double(let number): number
        case .bool(let flag): flag
        case .array(let elements): elements.map(\.plain)
        case .dictionary(let members): members.mapValues(\.plain)
        case .null: self
        }
    }
}
