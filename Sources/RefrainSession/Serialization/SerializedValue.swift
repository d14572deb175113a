internal import RefrainCore

/// Reads one value out of a request's response, once for each try, and keeps it.
///
/// Reading within the try lets retriers hear of a response that cannot be read, each try once.
struct SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private let state: Locked<State>

    init(_ serializer: Serializer, for request: Request) {
        let state = Locked(making: { State(serializer: serializer) })
        self.state = state
        request.addSerialization(isLight: serializer is DataResponseSerializer) { _, response in
            guard case .failure(let error) = state.withLock({ $0.read(response) }) else { return nil }
            return error
        }
    }

    /// What the outcome of the request is to this reader.
    func result(of outcome: RequestOutcome) -> Result<Serializer.Value, RefrainError> {
        if let error = outcome.error { return .failure(error) }
        return state.withLock { state in
            if let known = state.last { return known }
            guard let response = outcome.response else {
                return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
            }
            return state.read(response)
        }
    }

    private struct State {
        let serializer: Serializer
        var last: Result<Serializer.Value, RefrainError>?

        // With the lock held: whoever else wants the value needs it read.
        mutating func read(_ response: HTTPResponse) -> Result<Serializer.Value, RefrainError> {
            let result = Self.read(response, with: serializer)
            last = result
            return result
        }

        private static func read(
            _ response: HTTPResponse,
            with serializer: Serializer
        ) -> Result<Serializer.Value, RefrainError> {
            do {
                return .success(try serializer.serialize(response))
            } catch let error as RefrainError {
                return .failure(error)
            } catch {
                let body = Array(response.content)
                let reason = RefrainError.ResponseSerializationFailureReason.customSerializationFailed(
                    error: error,
                    body: body
                )
                return .failure(.responseSerializationFailed(reason: reason))
            }
        }
    }
}
