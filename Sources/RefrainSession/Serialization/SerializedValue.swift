internal import RefrainCore

/// Reads one value out of a request's response, once for each try, and keeps it.
///
/// Reading within the try lets retriers hear of a response that cannot be read, each try once.
struct SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private let serializer: Serializer
    private let last: Locked<Result<Serializer.Value, RefrainError>?>

    init(_ serializer: Serializer, for request: Request) {
        self.serializer = serializer
        last = Locked(nil)
        request.addSerialization(isLight: serializer is DataResponseSerializer) { [self] _, response in
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

    // Without the lock: it is the caller's own code that reads, and that lets go of what was read before.
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
