public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataRequest {
    /// Starts the request, and calls `completion` with the body as it came, nil if there is no response.
    ///
    /// Each of these methods calls its completion exactly once, when the request has ended; several completions of one
    /// request are called in the order in which they were added.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread, where Alamofire's default is `.main`.
    ///   - completion: receives the response.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<Data?, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { outcome, request in
            let body = outcome.response?.data
            return DataResponse(outcome, of: request, outcome.error.map { .failure($0) } ?? .success(body))
        }
    }

    /// Starts the request, and calls `completion` with the value of a serializer.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - serializer: makes the value of each attempt's response.
    ///   - completion: receives the response.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        using serializer: Serializer,
        completion: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self {
        let value = SerializedValue(serializer, for: self)
        return complete(on: queue, completion) { outcome, request in
            DataResponse(outcome, of: request, value.result(of: outcome))
        }
    }

    /// Starts the request, and calls `completion` with the body as `Data`.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - emptyResponses: the responses that may be empty.
    ///   - completion: receives the response.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        emptyResponses: EmptyResponseRules = .standard,
        completion: @escaping @Sendable (DataResponse<Data, RefrainError>) -> Void
    ) -> Self {
        let serializer = DataResponseSerializer(emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// Starts the request, and calls `completion` with the body as text.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - encoding: the encoding. Defaults to nil, see ``StringResponseSerializer``.
    ///   - emptyResponses: the responses that may be empty.
    ///   - completion: receives the response.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        encoding: String.Encoding? = nil,
        emptyResponses: EmptyResponseRules = .standard,
        completion: @escaping @Sendable (DataResponse<String, RefrainError>) -> Void
    ) -> Self {
        let serializer = StringResponseSerializer(encoding: encoding, emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// Starts the request, and calls `completion` with the body as a `Decodable` value.
    ///
    /// - Parameters:
    ///   - type: the type of the value.
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - decoder: the decoder. Defaults to a `JSONDecoder`.
    ///   - emptyResponses: the responses that may be empty.
    ///   - completion: receives the response.
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue? = nil,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponses: EmptyResponseRules = .standard,
        completion: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void
    ) -> Self {
        let serializer = DecodableResponseSerializer<Value>(decoder: decoder, emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    private func complete<Value>(
        on queue: DispatchQueue?,
        _ completion: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void,
        read: @escaping @Sendable (RequestOutcome, HTTPRequest?) -> DataResponse<Value, RefrainError>
    ) -> Self {
        let completion = queue.dispatching(completion)
        whenEnded { [self] in
            let (outcome, sent) = ending
            completion(read(outcome, sent))
        }
        startIfWanted()
        return self
    }
}
