#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataRequest {
    /// Starts the request, and reads its body as `Data`.
    public func serializingData(
        automaticallyCancelling: Bool = true,
        emptyResponses: EmptyResponseRules = .standard
    ) -> DataTask<Data> {
        guard emptyResponses == .standard else {
            return serializingResponse(
                using: DataResponseSerializer(emptyResponses: emptyResponses),
                automaticallyCancelling: automaticallyCancelling
            )
        }
        // To look at bytes in memory once more takes less than to keep what was found.
        addSerialization(isLight: true) { _, response in
            guard case .failure(let error) = response.bytes(orEmptyBy: .standard) else { return nil }
            return error
        }
        return DataTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, outcome.whole.flatMap { $0.bytes(orEmptyBy: .standard) })
        }
    }

    /// Starts the request, and reads its body as text.
    ///
    /// - Parameters:
    ///   - automaticallyCancelling: whether a waiting task that is cancelled cancels the request.
    ///   - encoding: the encoding; nil: the one that the response names, or else UTF-8, or ISO-8859-1 where the bytes
    ///     are no UTF-8.
    ///   - emptyResponses: which responses may be empty.
    public func serializingString(
        automaticallyCancelling: Bool = true,
        encoding: String.Encoding? = nil,
        emptyResponses: EmptyResponseRules = .standard
    ) -> DataTask<String> {
        serializingResponse(
            using: StringResponseSerializer(encoding: encoding, emptyResponses: emptyResponses),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// Starts the request, and reads its body as a `Decodable` value.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponses: EmptyResponseRules = .standard
    ) -> DataTask<Value> {
        serializingResponse(
            using: DecodableResponseSerializer(decoder: decoder, emptyResponses: emptyResponses),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// Starts the request, and hands its response over as it is.
    public func serializingResponse(automaticallyCancelling: Bool = true) -> DataTask<HTTPResponse> {
        DataTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, outcome.whole)
        }
    }

    /// Starts the request, and reads its response with a serializer of the caller's.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> DataTask<Serializer.Value> {
        let value = SerializedValue(serializer, for: self)
        return DataTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, value.result(of: outcome))
        }
    }

    /// Starts the request, and calls `completion` once, on any thread, when it has finished.
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        completion: @escaping @Sendable (DataResponse<Serializer.Value>) -> Void
    ) -> Self {
        let task = serializingResponse(using: serializer)
        Task { completion(await task.response) }
        return self
    }

    /// Starts the request, reads its body as a `Decodable` value, and calls `completion` once, on any thread.
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        decoder: any DataDecoder = JSONDecoder(),
        completion: @escaping @Sendable (DataResponse<Value>) -> Void
    ) -> Self {
        response(using: DecodableResponseSerializer<Value>(decoder: decoder), completion: completion)
    }
}

extension RequestOutcome {
    /// The response as it is, where the request has succeeded.
    fileprivate var whole: Result<HTTPResponse, RefrainError> {
        if let error { return .failure(error) }
        guard let response else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return .success(response)
    }
}
