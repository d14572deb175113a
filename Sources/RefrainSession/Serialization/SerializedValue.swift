internal import RefrainCore

/// Reads one value out of a request's response, once for each try, and keeps it.
///
/// Reading within the try lets retriers hear of a response that cannot be read, each try once.
final class SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private let serializer: Serializer
    private let last = Locked<Result<Serializer.Value, RefrainError>?>(nil)

    init(_ serializer: Serializer, for request: Request) {
        self.serializer = serializer
        request.addSerialization { [self] _, response in
            guard case .failure(let error) = read(response) else { return nil }
            return error
        }
    }

    /// What the outcome of the request is to this reader.
    func result(of outcome: RequestOutcome) -> Result<Serializer.Value, RefrainError> {
        if let error = outcome.error { return .failure(error) }
        if let known = last.withLock({ $0 }) { return known }
        guard let response = outcome.response else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return read(response)
    }

    private func read(_ response: HTTPResponse) -> Result<Serializer.Value, RefrainError> {
        let result: Result<Serializer.Value, RefrainError>
        do {
            result = .success(try serializer.serialize(response))
        } catch {
            result = .failure(
                error as? RefrainError
                    ?? .responseSerializationFailed(
                        reason: .customSerializationFailed(error: error, body: response.content)
                    )
            )
        }
        last.withLock { $0 = result }
        return result
    }
}
