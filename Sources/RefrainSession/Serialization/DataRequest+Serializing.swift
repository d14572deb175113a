#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataRequest {
    /// Starts the request, and returns a task for its body as `Data`.
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
        // Light: checking the bytes again costs less than storing the result.
        addSerialization { _, response in
            guard case .failure(let error) = response.bytes(orEmptyBy: .standard) else { return nil }
            return error
        }
        return DataTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, outcome.whole.flatMap { $0.bytes(orEmptyBy: .standard) })
        }
    }

    /// Starts the request, and returns a task for its body as text.
    ///
    /// - Parameters:
    ///   - automaticallyCancelling: whether cancelling a task that awaits the value cancels the request. Defaults to
    ///     true.
    ///   - encoding: the encoding. Defaults to nil: the encoding that the response declares, otherwise UTF-8, or
    ///     ISO-8859-1 if the bytes are not valid UTF-8.
    ///   - emptyResponses: the responses that may be empty.
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

    /// Starts the request, and returns a task for its body as a `Decodable` value.
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

    /// Starts the request, and returns a task for its response.
    public func serializingResponse(automaticallyCancelling: Bool = true) -> DataTask<HTTPResponse> {
        DataTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, outcome.whole)
        }
    }

    /// Starts the request, and returns a task for the value of a serializer.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> DataTask<Serializer.Value> {
        let value = SerializedValue(serializer, for: self)
        return DataTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, value.result(of: outcome))
        }
    }
}

extension RequestOutcome {
    /// The response, if the request has succeeded.
    var whole: Result<HTTPResponse, RefrainError> {
        if let error { return .failure(error) }
        guard let response else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return .success(response)
    }
}
