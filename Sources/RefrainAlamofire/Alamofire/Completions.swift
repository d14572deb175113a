// SPDX-License-Identifier: Apache-2.0
public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension Empty.Rules {
    /// The rules for the sets that Alamofire's methods take.
    init(_ statuses: Set<Int>, _ methods: Set<HTTPMethod>) {
        self.init(methods: methods, statuses: Set(statuses.map { HTTPStatus(rawValue: $0) }))
    }

    /// The statuses that Alamofire takes for empty by default.
    public static let defaultEmptyResponseCodes: Set<Int> = [204, 205]
    /// The methods that Alamofire takes for empty by default.
    public static let defaultEmptyRequestMethods: Set<HTTPMethod> = [.head]
}

extension DataRequest {
    /// Starts the request, and calls `completionHandler` when it has ended.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (DataResponse<Data?, RefrainError>) -> Void
    ) -> Self { response(queue: queue, completion: completionHandler) }
}

extension DownloadRequest {
    /// Starts the download, and calls `completionHandler` when it has ended.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (DataResponse<URL?, RefrainError>) -> Void
    ) -> Self { response(queue: queue, completion: completionHandler) }

    /// Starts the download, and calls `completionHandler` with its file.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue = .main,
        completionHandler: @escaping @Sendable (DataResponse<URL, RefrainError>) -> Void
    ) -> Self { responseURL(queue: queue, completion: completionHandler) }
}

// The parameters are Alamofire's, and so is the queue: the handlers of pasted code share variables without locks.
extension Request.ContentReading {
    /// Starts the request, and calls `completionHandler` with the value of a serializer.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue = .main,
        responseSerializer: Serializer,
        completionHandler: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self { response(queue: queue, using: responseSerializer, completion: completionHandler) }

    /// Starts the request, and calls `completionHandler` with the content as bytes.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue = .main,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<Data, RefrainError>) -> Void
    ) -> Self {
        let serializer = Request.DataSerializer(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return response(queue: queue, using: serializer, completion: completionHandler)
    }

    /// Starts the request, and calls `completionHandler` with the content as text.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue = .main,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<String, RefrainError>) -> Void
    ) -> Self {
        let serializer = Request.StringSerializer(
            dataPreprocessor: dataPreprocessor,
            encoding: encoding,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return response(queue: queue, using: serializer, completion: completionHandler)
    }

    /// Starts the request, and calls `completionHandler` with the content decoded.
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue = .main,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        decoder: any Request.DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void
    ) -> Self {
        let serializer = Request.DecodableSerializer<Value>(
            dataPreprocessor: dataPreprocessor,
            decoder: decoder,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return response(queue: queue, using: serializer, completion: completionHandler)
    }

    /// Starts the request, and calls `completionHandler` with the content as any JSON.
    @preconcurrency
    @discardableResult
    public func responseJSON(
        queue: DispatchQueue = .main,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods,
        completionHandler: @escaping @Sendable (DataResponse<any Sendable, RefrainError>) -> Void
    ) -> Self {
        let serializer = JSONResponseSerializer(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return response(queue: queue, using: serializer, completion: completionHandler)
    }

    /// Starts the request, and returns a task for its content.
    @_disfavoredOverload
    public func serializingData(
        automaticallyCancelling: Bool = true,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) -> Request.ResponseTask<Data> {
        let serializer = Request.DataSerializer(
            dataPreprocessor: dataPreprocessor,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return serializing(using: serializer, automaticallyCancelling: automaticallyCancelling)
    }

    /// Starts the request, and returns a task for its content as text.
    @_disfavoredOverload
    public func serializingString(
        automaticallyCancelling: Bool = true,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        encoding: String.Encoding? = nil,
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) -> Request.ResponseTask<String> {
        let serializer = Request.StringSerializer(
            dataPreprocessor: dataPreprocessor,
            encoding: encoding,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return serializing(using: serializer, automaticallyCancelling: automaticallyCancelling)
    }

    /// Starts the request, and returns a task for its content, decoded.
    @_disfavoredOverload
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling: Bool = true,
        dataPreprocessor: (any DataPreprocessor)? = nil,
        decoder: any Request.DataDecoder = JSONDecoder(),
        emptyResponseCodes: Set<Int> = Empty.Rules.defaultEmptyResponseCodes,
        emptyRequestMethods: Set<HTTPMethod> = Empty.Rules.defaultEmptyRequestMethods
    ) -> Request.ResponseTask<Value> {
        let serializer = Request.DecodableSerializer<Value>(
            dataPreprocessor: dataPreprocessor,
            decoder: decoder,
            emptyResponseCodes: emptyResponseCodes,
            emptyRequestMethods: emptyRequestMethods
        )
        return serializing(using: serializer, automaticallyCancelling: automaticallyCancelling)
    }
}
