// SPDX-License-Identifier: Apache-2.0
public import Dispatch

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
        if error == nil, let response { return .success(response) }
        return .failure(error ?? .responseSerializationFailed(reason: .inputDataNilOrZeroLength))
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
        try await content(of: request(url, shouldAutomaticallyResume: true))
    }

    /// Loads a request, and returns the content and the response; see ``data(from:)``.
    public func data(for request: some RequestConvertible) async throws -> (Data, HTTPResponse) {
        try await content(of: self.request(request, shouldAutomaticallyResume: true))
    }

    private func content(of request: DataRequest) async throws -> (Data, HTTPResponse) {
        let result = await request.serializingResponse().result
        try Task.checkCancellation()
        let response = try result.get()
        return (response.content, response)
    }
}

extension DataRequest: Request.ContentReading {
    /// Starts the request, and calls `completion` with the body as it came, nil if there is no response.
    ///
    /// Each of these methods calls its completion exactly once, when the request has ended; several completions of one
    /// request are called in the order in which they were added.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread, where Alamofire's default is `.main`.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<Data?, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { request in
            let (outcome, sent) = request.ending
            let body = outcome.response?.data
            return DataResponse(outcome, of: sent, outcome.error.map { .failure($0) } ?? .success(body))
        }
    }

    /// Starts the request, and calls `completion` with the value of a serializer.
    ///
    /// - Parameters:
    ///   - queue: where `completion` is called. Defaults to nil: any thread.
    ///   - serializer: makes the value of each attempt's response.
    ///   - completion: receives the response.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        using serializer: Serializer,
        completion: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self {
        let value = SerializedValue(serializer, for: self)
        return complete(on: queue, completion) { request in
            let (outcome, sent) = request.ending
            return value.response(outcome, of: sent)
        }
    }
}

// Unlike for a data request, a value that cannot be read is not a reason for a retry: the file is there.
extension DownloadRequest: Request.ContentReading {
    /// Starts the download, and calls `completion` with its file, nil if there is none.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<URL?, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { $0.response { .success($0) } }
    }

    /// Starts the download, and calls `completion` with its file.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<URL, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { $0.response { .success($0) } }
    }

    /// Starts the download, and calls `completion` with the value that a serializer reads from the file.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        using serializer: Serializer,
        completion: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { $0.response(using: serializer) }
    }

    /// Starts the download, and returns a task for its file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> Request.ResponseTask<URL> {
        serializing(automaticallyCancelling) { $0.response { .success($0) } }
    }

    /// Starts the download, and returns a task for the value that a serializer reads from the file.
    ///
    /// The file is read into memory when the download is complete. Unlike for a data request, a value that cannot
    /// be read from it is not a reason for a retry: the file is there.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> Request.ResponseTask<Serializer.Value> {
        serializing(automaticallyCancelling) { $0.response(using: serializer) }
    }

    /// As ``serializingDownload(using:automaticallyCancelling:)``.
    public func serializing<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool
    ) -> Request.ResponseTask<Serializer.Value> {
        serializingDownload(using: serializer, automaticallyCancelling: automaticallyCancelling)
    }

    private func serializing<Value>(
        _ automaticallyCancelling: Bool,
        read: @escaping @Sendable (DownloadRequest) -> DataResponse<Value, RefrainError>
    ) -> Request.ResponseTask<Value> {
        Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling) { [self] _, _ in read(self) }
    }

    /// The response with a value read from the complete file.
    private func response<Value>(
        _ read: (URL) -> Result<Value, RefrainError>
    ) -> DataResponse<Value, RefrainError> {
        let (outcome, sent) = ending
        let file = fileURL
        let isComplete = outcome.error == nil
        return DataResponse(outcome, of: sent, outcome.error.map { .failure($0) } ?? read(file))
            .adding(DownloadOutcome(fileURL: isComplete ? file : nil, part: partialDownload))
    }

    private func response<Serializer: ResponseSerializer>(
        using serializer: Serializer
    ) -> DataResponse<Serializer.Value, RefrainError> {
        let head = ending.outcome.response
        return response { file in
            guard var whole = head else {
                return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
            }
            guard let bytes = try? Data(contentsOf: file) else {
                return .failure(.responseSerializationFailed(reason: .inputFileReadFailed(at: file)))
            }
            do {
                whole.body = .bytes(bytes)
                return .success(try serializer.serialize(whole))
            } catch let error as RefrainError {
                return .failure(error)
            } catch {
                return .failure(
                    .responseSerializationFailed(reason: .customSerializationFailed(error: error, body: []))
                )
            }
        }
    }
}
