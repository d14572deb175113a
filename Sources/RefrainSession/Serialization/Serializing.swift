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
        return Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling) {
            outcome throws(RefrainError) in
            try outcome.whole().bytes(orEmptyBy: .standard).get()
        }
    }

    /// Starts the request, and returns a task for its response.
    public func serializingResponse(automaticallyCancelling: Bool = true) -> Request.ResponseTask<HTTPResponse> {
        Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling) {
            outcome throws(RefrainError) in
            try outcome.whole()
        }
    }

    /// Starts the request, and returns a task for the value of a serializer.
    public func serializingResponse<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> Request.ResponseTask<Serializer.Value> {
        let value = SerializedValue(serializer, for: self)
        return Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling, read: value.value)
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
    /// The response of a request that has succeeded.
    func whole() throws(RefrainError) -> HTTPResponse {
        if error == nil, let response { return response }
        throw error ?? .responseSerializationFailed(reason: .inputDataNilOrZeroLength)
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
        complete(on: queue, completion) { outcome throws(RefrainError) in
            if let error = outcome.error { throw error }
            return outcome.response?.data
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
        complete(on: queue, completion, read: SerializedValue(serializer, for: self).value)
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
        complete(on: queue, completion) { [self] outcome throws(RefrainError) in try file(outcome) }
    }

    /// Starts the download, and calls `completion` with its file.
    @_disfavoredOverload
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<URL, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion, read: file)
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
        complete(on: queue, completion, read: value(by: serializer))
    }

    /// Starts the download, and returns a task for its file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> Request.ResponseTask<URL> {
        Request.ResponseTask(self, cancelsAutomatically: automaticallyCancelling, read: file)
    }

    /// Starts the download, and returns a task for the value that a serializer reads from the file.
    ///
    /// The file is read into memory when the download is complete. Unlike for a data request, a value that cannot
    /// be read from it is not a reason for a retry: the file is there.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> Request.ResponseTask<Serializer.Value> {
        Request.ResponseTask(
            self,
            cancelsAutomatically: automaticallyCancelling,
            read: value(by: serializer)
        )
    }

    /// As ``serializingDownload(using:automaticallyCancelling:)``.
    public func serializing<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool
    ) -> Request.ResponseTask<Serializer.Value> {
        serializingDownload(using: serializer, automaticallyCancelling: automaticallyCancelling)
    }

    /// The file, if the download is complete.
    @Sendable
    private func file(_ outcome: RequestOutcome) throws(RefrainError) -> URL {
        if let error = outcome.error { throw error }
        return fileURL
    }

    /// Reads a value from the complete file.
    private func value<Serializer: ResponseSerializer>(by serializer: Serializer) -> Request.Reader<Serializer.Value> {
        { [self] outcome throws(RefrainError) in
            let file = try file(outcome)
            var whole = try outcome.whole()
            guard let bytes = try? Data(contentsOf: file) else {
                throw .responseSerializationFailed(reason: .inputFileReadFailed(at: file))
            }
            do {
                whole.body = .bytes(bytes)
                return try serializer.serialize(whole)
            } catch let error as RefrainError {
                throw error
            } catch {
                throw .responseSerializationFailed(reason: .customSerializationFailed(error: error, body: []))
            }
        }
    }
}
