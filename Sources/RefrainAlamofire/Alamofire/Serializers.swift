// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension ResponseSerializer {
    /// Serializes the parts of a response, as Alamofire's serializers do.
    ///
    /// - Parameters:
    ///   - request: the request that was sent, or nil.
    ///   - response: the response without its body; nil stands for a response with status 200.
    ///   - data: the body; nil stands for an empty one.
    ///   - error: an error of the request, which is thrown.
    /// - Throws: `error`, or that of the serializer.
    public func serialize(
        request: HTTPRequest?,
        response: HTTPResponse?,
        data: Data?,
        error: (any Error)?
    ) throws -> Value {
        if let error { throw error }
        let whole = HTTPResponse(
            request: request ?? response?.request ?? HTTPRequest(),
            status: response?.status ?? .ok,
            headers: response?.headers ?? [:],
            body: .data(data ?? Data())
        )
        return try serialize(whole)
    }

    /// Serializes the file of a download, as Alamofire's serializers do.
    ///
    /// - Throws: `error`, that of reading the file, or that of the serializer.
    public func serializeDownload(
        request: HTTPRequest?,
        response: HTTPResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> Value {
        if let error { throw error }
        guard let fileURL else {
            throw AFError.responseSerializationFailed(reason: .inputFileNil)
        }
        let data: Data
        do {
            data = try Data(contentsOf: fileURL)
        } catch {
            throw AFError.responseSerializationFailed(reason: .inputFileReadFailed(at: fileURL))
        }
        return try serialize(request: request, response: response, data: data, error: nil)
    }
}

/// What makes a value of a download's file.
public protocol DownloadResponseSerializerProtocol<SerializedObject>: Sendable {
    /// The type of the value.
    associatedtype SerializedObject: Sendable

    /// Returns the value.
    ///
    /// - Throws: `error`, or that of the serializer.
    func serializeDownload(
        request: HTTPRequest?,
        response: HTTPResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> SerializedObject
}

/// Returns the file of a download, unread.
public struct URLResponseSerializer: DownloadResponseSerializerProtocol {
    /// Makes the serializer.
    public init() {}

    /// Returns the file.
    ///
    /// - Throws: `error`, or `RefrainError.responseSerializationFailed(reason:attempts:)` if there is no file.
    public func serializeDownload(
        request: HTTPRequest?,
        response: HTTPResponse?,
        fileURL: URL?,
        error: (any Error)?
    ) throws -> URL {
        if let error { throw error }
        guard let fileURL else { throw AFError.responseSerializationFailed(reason: .inputFileNil) }
        return fileURL
    }
}

extension DownloadResponseSerializerProtocol where Self == URLResponseSerializer {
    /// The file of a download, unread.
    public static var url: URLResponseSerializer { URLResponseSerializer() }
}

/// What makes the body `Data`, under Alamofire's name for it.
public typealias DataResponseSerializer = Request.DataSerializer
/// What makes the body text, under Alamofire's name for it.
public typealias StringResponseSerializer = Request.StringSerializer
/// What decodes the body, under Alamofire's name for it.
public typealias DecodableResponseSerializer<Value: Decodable & Sendable> = Request.DecodableSerializer<Value>
/// What decodes values from bytes, under Alamofire's name for it.
public typealias DataDecoder = Request.DataDecoder
/// A value for responses without a body, under Alamofire's name for it.
public typealias EmptyResponse = Empty.Response
/// A task that awaits the value of a response, under Alamofire's name for it.
public typealias DataTask<Value: Sendable> = Request.ResponseTask<Value>

/// What changes the bytes of a response before they are serialized, under Alamofire's name for it.
public typealias DataPreprocessor = Request.DataSerializer.Preprocessor
/// The preprocessor that changes nothing, under Alamofire's name for it.
public typealias PassthroughPreprocessor = Request.DataSerializer.Passthrough
/// The preprocessor for the JSON of Google's services, under Alamofire's name for it.
public typealias GoogleXSSIPreprocessor = Request.DataSerializer.GoogleXSSI

extension Request.DataSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) {
        let rules = Empty.Rules(emptyResponseCodes, emptyRequestMethods)
        self.init(preprocessor: dataPreprocessor, emptyResponses: rules)
    }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension Request.StringSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) {
        let rules = Empty.Rules(emptyResponseCodes, emptyRequestMethods)
        self.init(preprocessor: dataPreprocessor, encoding: encoding, emptyResponses: rules)
    }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension Request.DecodableSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        decoder: any Request.DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) {
        let rules = Empty.Rules(emptyResponseCodes, emptyRequestMethods)
        self.init(preprocessor: dataPreprocessor, decoder: decoder, emptyResponses: rules)
    }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension ResponseSerializer where Self == Request.DataSerializer {
    /// The body as `Data`.
    public static var data: Self { Self() }

    /// The body as `Data`.
    public static func data(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) -> Self {
        Self(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

extension ResponseSerializer where Self == Request.StringSerializer {
    /// The body as text.
    public static var string: Self { Self() }

    /// The body as text.
    public static func string(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) -> Self {
        Self(
            dataPreprocessor: dataPreprocessor,
            encoding: encoding,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

extension ResponseSerializer {
    /// The body as a `Decodable` value.
    public static func decodable<Value: Decodable & Sendable>(
        of type: Value.Type,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        decoder: any Request.DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) -> Self where Self == Request.DecodableSerializer<Value> {
        Self(
            dataPreprocessor: dataPreprocessor,
            decoder: decoder,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

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
