internal import RefrainCore

/// Reads one value out of a request's response, once for each try, and keeps it.
///
/// Reading within the try lets retriers hear of a response that cannot be read, each try once.
struct SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private let state: Locked<State>

    private struct State {
        let serializer: Serializer
        var last: Result<Serializer.Value, RefrainError>?
    }

    init(_ serializer: Serializer, for request: Request) {
        state = Locked(State(serializer: serializer))
        request.addSerialization(isLight: serializer is DataResponseSerializer) { [self] _, response in
            guard case .failure(let error) = read(response) else { return nil }
            return error
        }
    }

    /// What the outcome of the request is to this reader.
    func result(of outcome: RequestOutcome) -> Result<Serializer.Value, RefrainError> {
        if let error = outcome.error { return .failure(error) }
        if let known = state.withLock({ $0.last }) { return known }
        guard let response = outcome.response else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return read(response)
    }

    private func read(_ response: HTTPResponse) -> Result<Serializer.Value, RefrainError> {
        let serializer = state.withLock { $0.serializer }
        let result: Result<Serializer.Value, RefrainError>
        do {
            result = .success(try serializer.serialize(response))
        } catch {
            result = .failure(
                error as? RefrainError
                    ?? .responseSerializationFailed(
                        reason: .customSerializationFailed(error: error, body: Array(response.content))
                    )
            )
        }
        state.withLock { $0.last = result }
        return result
    }
}
