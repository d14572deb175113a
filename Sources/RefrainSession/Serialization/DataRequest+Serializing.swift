#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DataRequest {
    /// Starts the request, and returns a task for its body as `Data`; HEAD, 204 and 205 may have none.
    public func serializingData(automaticallyCancelling: Bool = true) -> Request.ResponseTask<Data> {
        // Light: checking the bytes again costs less than storing the result.
        addSerialization { _, response in
            guard case .failure(let error) = response.bytes(orEmptyBy: .standard) else { return nil }
            return error
        }
        return Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, outcome.whole.flatMap { $0.bytes(orEmptyBy: .standard) })
        }
    }

    /// Starts the request, and returns a task for its response.
    public func serializingResponse(automaticallyCancelling: Bool = true) -> Request.ResponseTask<HTTPResponse> {
        Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            DataResponse(outcome, of: request, outcome.whole)
        }
    }

    /// Starts the request, and returns a task for the value of a serializer.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> Request.ResponseTask<Serializer.Value> {
        let value = SerializedValue(serializer, for: self)
        return Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling) { outcome, request in
            value.response(outcome, of: request)
        }
    }

    /// As ``serializingResponse(using:automaticallyCancelling:)``.
    public func serializing<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool
    ) -> Request.ResponseTask<Serializer.Value> {
        serializingResponse(using: serializer, automaticallyCancelling: automaticallyCancelling)
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

extension Session {
    /// Loads a URL, and returns the content and the response, as `URLSession` does.
    ///
    /// ```swift
    /// let (data, response) = try await session.data(from: url)
    /// ```
    ///
    /// A response of any status is returned: look at its `statusCode`. Within `Task.retrying`, throw for a status that
    /// is worth another run; the session's own retries are made first, unless its policy is the default one.
    ///
    /// - Throws: ``RefrainError`` if there is no response; `CancellationError` if the task was cancelled.
    public func data(from url: some URLConvertible) async throws -> (Data, HTTPResponse) {
        try await content(of: request(url))
    }

    /// Loads a request, and returns the content and the response; see ``data(from:)``.
    public func data(for request: some RequestConvertible) async throws -> (Data, HTTPResponse) {
        try await content(of: self.request(request))
    }

    private func content(of request: DataRequest) async throws -> (Data, HTTPResponse) {
        let result = await request.serializingResponse().result
        try Task.checkCancellation()
        let response = try result.get()
        return (response.content, response)
    }
}
