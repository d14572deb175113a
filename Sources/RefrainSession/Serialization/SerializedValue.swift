internal import RefrainCore

/// Serializes the response of each attempt once, and keeps the last value.
///
/// Serializing within the attempt lets retriers react to a response that cannot be serialized. A class, so that the
/// closures that keep it need no memory of their own.
final class SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private let serializer: Serializer
    private let last: Locked<Serialized?>

    init(_ serializer: Serializer, for request: Request) {
        self.serializer = serializer
        last = Locked(nil)
        request.addSerialization { [self] _, response in
            guard case .failure(let error) = read(response) else { return nil }
            return error
        }
    }

    /// The response of the request, with the value for its outcome.
    func response(_ outcome: RequestOutcome, of request: HTTPRequest?) -> DataResponse<Serializer.Value, RefrainError> {
        switch serialized(for: outcome) {
        // The only boxes are made below, of the serializer's own values.
        case .success(let box):
            let box = unsafeDowncast(box, to: SerializedBox<Serializer.Value>.self)
            return DataResponse(outcome, of: request, .success(box.value))
        case .failure(let error):
            return DataResponse(outcome, of: request, .failure(error))
        }
    }

    private func serialized(for outcome: RequestOutcome) -> Serialized {
        if let error = outcome.error { return .failure(error) }
        if let known = last.withLock({ $0 }) { return known }
        guard let response = outcome.response else {
            return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
        }
        return read(response)
    }

    // Outside the lock, because serializing, and deallocating the previous value, run the caller's code.
    private func read(_ response: HTTPResponse) -> Serialized {
        let result = serialize(response)
        let previous = last.withLock { last in
            defer { last = result }
            return last
        }
        _ = consume previous
        return result
    }

    private func serialize(_ response: HTTPResponse) -> Serialized {
        do {
            return .success(SerializedBox(try serializer.serialize(response)))
        } catch let error as RefrainError {
            return .failure(error)
        } catch {
            return .failure(.customSerializationFailed(error, response))
        }
    }
}

/// What a serializer made of a response.
///
/// The value is in a box, so that the type does not depend on it: each function that handles a generic `Result` has
/// the runtime look up its type, which takes longer than most of these functions.
private typealias Serialized = Result<any AnyObject & Sendable, RefrainError>

private final class SerializedBox<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

extension RefrainError {
    fileprivate static func customSerializationFailed(_ error: any Error, _ response: HTTPResponse) -> RefrainError {
        .responseSerializationFailed(
            reason: .customSerializationFailed(error: error, body: Array(response.content))
        )
    }
}
