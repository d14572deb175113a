public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension EmptyResponseRules {
    /// The rules for the sets that Alamofire's methods take.
    fileprivate init(_ statuses: Set<Int>, _ methods: Set<HTTPMethod>) {
        self.init(methods: methods, statuses: Set(statuses.map { HTTPStatus(rawValue: $0) }))
    }

    /// The statuses that Alamofire takes for empty by default.
    public static let defaultEmptyResponseCodes: Set<Int> = [204, 205]
    /// The methods that Alamofire takes for empty by default.
    public static let defaultEmptyRequestMethods: Set<HTTPMethod> = [.head]
}

extension DataRequest {
    /// Starts the request, and calls `completionHandler` when it has ended.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DataResponse<Data?, RefrainError>) -> Void
    ) -> Self { response(queue: queue, completion: completionHandler) }

    /// Starts the request, and calls `completionHandler` with the value of a serializer.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self { response(queue: queue, using: responseSerializer, completion: completionHandler) }

    /// Starts the request, and calls `completionHandler`; the parameters are Alamofire's.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<Data, RefrainError>) -> Void
    ) -> Self {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return responseData(queue: queue, emptyResponses: rules, completion: completionHandler)
    }

    /// Starts the request, and returns a task for its content; the parameters are Alamofire's.
    @_disfavoredOverload
    public func serializingData(

        automaticallyCancelling: Bool = true,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> DataTask<Data> {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return serializingData(automaticallyCancelling: automaticallyCancelling, emptyResponses: rules)
    }

    /// Starts the request, and calls `completionHandler`; the parameters are Alamofire's.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<String, RefrainError>) -> Void
    ) -> Self {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return responseString(queue: queue, encoding: encoding, emptyResponses: rules, completion: completionHandler)
    }

    /// Starts the request, and returns a task for its content; the parameters are Alamofire's.
    @_disfavoredOverload
    public func serializingString(

        automaticallyCancelling: Bool = true,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> DataTask<String> {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return serializingString(
            automaticallyCancelling: automaticallyCancelling,
            encoding: encoding,
            emptyResponses: rules
        )
    }

    /// Starts the request, and calls `completionHandler`; the parameters are Alamofire's.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue? = nil,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void
    ) -> Self {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return responseDecodable(
            of: type,
            queue: queue,
            decoder: decoder,
            emptyResponses: rules,
            completion: completionHandler
        )
    }

    /// Starts the request, and returns a task for its content; the parameters are Alamofire's.
    @_disfavoredOverload
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> DataTask<Value> {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return serializingDecodable(
            type,
            automaticallyCancelling: automaticallyCancelling,
            decoder: decoder,
            emptyResponses: rules
        )
    }
}

extension DownloadRequest {
    /// Starts the download, and calls `completionHandler` when it has ended.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DataResponse<URL?, RefrainError>) -> Void
    ) -> Self { response(queue: queue, completion: completionHandler) }

    /// Starts the download, and calls `completionHandler` with the value of a serializer.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self { response(queue: queue, using: responseSerializer, completion: completionHandler) }

    /// Starts the download, and calls `completionHandler` with its file.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = nil,
        completionHandler: @escaping @Sendable (DataResponse<URL, RefrainError>) -> Void
    ) -> Self { responseURL(queue: queue, completion: completionHandler) }

    /// Starts the download, and calls `completionHandler`; the parameters are Alamofire's.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<Data, RefrainError>) -> Void
    ) -> Self {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return responseData(queue: queue, emptyResponses: rules, completion: completionHandler)
    }

    /// Starts the download, and returns a task for its content; the parameters are Alamofire's.
    @_disfavoredOverload
    public func serializingData(

        automaticallyCancelling: Bool = true,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> DownloadTask<Data> {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return serializingData(automaticallyCancelling: automaticallyCancelling, emptyResponses: rules)
    }

    /// Starts the download, and calls `completionHandler`; the parameters are Alamofire's.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<String, RefrainError>) -> Void
    ) -> Self {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return responseString(queue: queue, encoding: encoding, emptyResponses: rules, completion: completionHandler)
    }

    /// Starts the download, and returns a task for its content; the parameters are Alamofire's.
    @_disfavoredOverload
    public func serializingString(

        automaticallyCancelling: Bool = true,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> DownloadTask<String> {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return serializingString(
            automaticallyCancelling: automaticallyCancelling,
            encoding: encoding,
            emptyResponses: rules
        )
    }

    /// Starts the download, and calls `completionHandler`; the parameters are Alamofire's.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue? = nil,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void
    ) -> Self {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return responseDecodable(
            of: type,
            queue: queue,
            decoder: decoder,
            emptyResponses: rules,
            completion: completionHandler
        )
    }

    /// Starts the download, and returns a task for its content; the parameters are Alamofire's.
    @_disfavoredOverload
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) -> DownloadTask<Value> {
        let rules = EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)
        return serializingDecodable(
            type,
            automaticallyCancelling: automaticallyCancelling,
            decoder: decoder,
            emptyResponses: rules
        )
    }
}

extension DataResponseSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) { self.init(emptyResponses: EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)) }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension StringResponseSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) { self.init(encoding: encoding, emptyResponses: EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)) }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}

extension DecodableResponseSerializer {
    /// Makes the serializer; the parameters are Alamofire's.
    @_disfavoredOverload
    public init(
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = EmptyResponseRules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = EmptyResponseRules.defaultEmptyRequestMethods
    ) { self.init(decoder: decoder, emptyResponses: EmptyResponseRules(emptyResponseCodes, emptyRequestMethods)) }

    /// The statuses of responses that may be empty.
    public var emptyResponseCodes: Set<Int> { Set(emptyResponses.statuses.map(\.rawValue)) }
    /// The methods of requests whose responses may be empty.
    public var emptyRequestMethods: Set<HTTPMethod> { emptyResponses.methods }
}
