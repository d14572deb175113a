#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// What changes the bytes of a response before they are serialized, under Alamofire's name for it.
public typealias DataPreprocessor = DataResponseSerializer.Preprocessor
/// The preprocessor that changes nothing, under Alamofire's name for it.
public typealias PassthroughPreprocessor = DataResponseSerializer.Passthrough
/// The preprocessor for the JSON of Google's services, under Alamofire's name for it.
public typealias GoogleXSSIPreprocessor = DataResponseSerializer.GoogleXSSI

extension DataResponseSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        self.init(preprocessor: dataPreprocessor, emptyResponses: rules)
    }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension StringResponseSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        self.init(preprocessor: dataPreprocessor, encoding: encoding, emptyResponses: rules)
    }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension DecodableResponseSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        self.init(preprocessor: dataPreprocessor, decoder: decoder, emptyResponses: rules)
    }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension ResponseSerializer where Self == DataResponseSerializer {
    /// The body as `Data`.
    public static var data: Self { Self() }

    /// The body as `Data`.
    public static func data(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> Self {
        Self(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}

extension ResponseSerializer where Self == StringResponseSerializer {
    /// The body as text.
    public static var string: Self { Self() }

    /// The body as text.
    public static func string(
        dataPreprocessor: (any DataPreprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
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
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> Self where Self == DecodableResponseSerializer<Value> {
        Self(
            dataPreprocessor: dataPreprocessor,
            decoder: decoder,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
    }
}
