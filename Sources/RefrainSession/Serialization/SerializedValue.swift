internal import RefrainCore

/// Serializes the response of each attempt once, and keeps the last value.
///
/// Serializing within the attempt lets retriers react to a response that cannot be serialized. A class, so that the
/// closures that keep it need no memory of their own.
final class SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private let serializer: Serializer
    private let last: Locked<Result<Serializer.Value, RefrainError>?>

    init(_ serializer: Serializer, for request: Request) {
        self.serializer = serializer
        last = Locked(nil)
        request.addSerialization { [self] _, response in
            guard case .failure(let error) = read(response) else { return nil }
            return error
        }
    }

    /// The value for the outcome of the request.
    func result(of outcome: RequestOutcome) -> Result<Serializer.Value, RefrainError> {
        if let error = outcome.error { return .failure(error) }
        if let known = last.withLock({ $0 }) { return known }
        guard let response = outcome.response else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return read(response)
    }

    // Outside the lock, because serializing, and deallocating the previous value, run the caller's code.
    private func read(_ response: HTTPResponse) -> Result<Serializer.Value, RefrainError> {
        let result = serialize(response)
        let previous = last.withLock { last in
            defer { last = result }
            return last
        }
        _ = consume previous
        return result
    }

    private func serialize(_ response: HTTPResponse) -> Result<Serializer.Value, RefrainError> {
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
