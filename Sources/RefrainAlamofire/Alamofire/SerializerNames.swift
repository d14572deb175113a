#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

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
