// SPDX-License-Identifier: Apache-2.0
internal import RefrainCore

/// Serializes the response of each attempt once, and keeps the last value.
///
/// Serializing within the attempt lets retriers react to a response that cannot be serialized.
final class SerializedValue<Serializer: ResponseSerializer>: Sendable {
    private typealias Serialized = Result<Serializer.Value, RefrainError>

    private let serializer: Serializer
    private let last: Locked<Serialized?>

    init(_ serializer: Serializer, for request: Request) {
        self.serializer = serializer
        last = Locked(nil)
        request.addSerialization { [self] _, response in read(response) }
    }

    /// The value for the outcome of the request.
    @Sendable
    func value(of outcome: RequestOutcome) throws(RefrainError) -> Serializer.Value {
        if let error = outcome.error { throw error }
        if let known = last.withLock({ $0 }) { return try known.get() }
        _ = read(try outcome.whole())
        return try value(of: outcome)
    }

    /// Serializes a response, and keeps what came of it; returns the error.
    private func read(_ response: HTTPResponse) -> RefrainError? {
        var error: RefrainError?
        var result: Serialized?
        do {
            result = .success(try serializer.serialize(response))
        } catch let thrown {
            let failure = thrown as? RefrainError ?? .customSerializationFailed(thrown, response)
            (error, result) = (failure, .failure(failure))
        }
        // Serializing, and deallocating the previous value, run the caller's code: without the lock.
        last.withLock { swap(&$0, &result) }
        return error
    }
}

extension RefrainError {
    fileprivate static func customSerializationFailed(_ error: any Error, _ response: HTTPResponse) -> RefrainError {
        .responseSerializationFailed(
            reason: .customSerializationFailed(error: error, body: Array(response.content))
        )
    }
}
