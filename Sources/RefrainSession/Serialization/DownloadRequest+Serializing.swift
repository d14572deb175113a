public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension DownloadRequest {
    /// Starts the download, and returns a task for its file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> DownloadTask<URL> {
        DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { $0.response { .success($0) } }
    }

    /// Starts the download, and returns a task for the value that a serializer reads from the file.
    ///
    /// The file is read into memory when the download is complete. A value that cannot be read from it is no reason for
    /// a retry, as it is for a data request: the file is there.
    public func serializingDownload<Serializer: ResponseSerializer>(
        using serializer: Serializer,
        automaticallyCancelling: Bool = true
    ) -> DownloadTask<Serializer.Value> {
        DownloadTask(self, cancelsAutomatically: automaticallyCancelling) { $0.response(using: serializer) }
    }

    /// Starts the download, and returns a task for the file's content as `Data`.
    public func serializingData(
        automaticallyCancelling: Bool = true,
        emptyResponses: EmptyResponseRules = .standard
    ) -> DownloadTask<Data> {
        serializingDownload(
            using: DataResponseSerializer(emptyResponses: emptyResponses),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// Starts the download, and returns a task for the file's content as text.
    public func serializingString(
        automaticallyCancelling: Bool = true,
        encoding: String.Encoding? = nil,
        emptyResponses: EmptyResponseRules = .standard
    ) -> DownloadTask<String> {
        serializingDownload(
            using: StringResponseSerializer(encoding: encoding, emptyResponses: emptyResponses),
            automaticallyCancelling: automaticallyCancelling
        )
    }

    /// Starts the download, and returns a task for the file's content as a `Decodable` value.
    public func serializingDecodable<Value: Decodable & Sendable>(
        _ type: Value.Type = Value.self,
        automaticallyCancelling: Bool = true,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponses: EmptyResponseRules = .standard
    ) -> DownloadTask<Value> {
        serializingDownload(
            using: DecodableResponseSerializer(decoder: decoder, emptyResponses: emptyResponses),
            automaticallyCancelling: automaticallyCancelling
        )
    }
}

extension DownloadRequest {
    /// Starts the download, and calls `completion` when it has ended, with its file or nil.
    ///
    /// Each of these methods calls its completion exactly once, in the order in which they were added, on `queue`, or
    /// on any thread if that is nil, the default.
    @preconcurrency
    @discardableResult
    public func response(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<URL?, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { $0.response { .success($0) } }
    }

    /// Starts the download, and calls `completion` with its file.
    @preconcurrency
    @discardableResult
    public func responseURL(
        queue: DispatchQueue? = nil,
        completion: @escaping @Sendable (DataResponse<URL, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { $0.response { .success($0) } }
    }

    /// Starts the download, and calls `completion` with the value that a serializer reads from the file.
    @preconcurrency
    @discardableResult
    public func response<Serializer: ResponseSerializer>(
        queue: DispatchQueue? = nil,
        using serializer: Serializer,
        completion: @escaping @Sendable (DataResponse<Serializer.Value, RefrainError>) -> Void
    ) -> Self {
        complete(on: queue, completion) { $0.response(using: serializer) }
    }

    /// Starts the download, and calls `completion` with the file's content as `Data`.
    @preconcurrency
    @discardableResult
    public func responseData(
        queue: DispatchQueue? = nil,
        emptyResponses: EmptyResponseRules = .standard,
        completion: @escaping @Sendable (DataResponse<Data, RefrainError>) -> Void
    ) -> Self {
        let serializer = DataResponseSerializer(emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// Starts the download, and calls `completion` with the file's content as text.
    @preconcurrency
    @discardableResult
    public func responseString(
        queue: DispatchQueue? = nil,
        encoding: String.Encoding? = nil,
        emptyResponses: EmptyResponseRules = .standard,
        completion: @escaping @Sendable (DataResponse<String, RefrainError>) -> Void
    ) -> Self {
        let serializer = StringResponseSerializer(encoding: encoding, emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    /// Starts the download, and calls `completion` with the file's content as a `Decodable` value.
    @preconcurrency
    @discardableResult
    public func responseDecodable<Value: Decodable & Sendable>(
        of type: Value.Type = Value.self,
        queue: DispatchQueue? = nil,
        decoder: any DataDecoder = JSONDecoder(),
        emptyResponses: EmptyResponseRules = .standard,
        completion: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void
    ) -> Self {
        let serializer = DecodableResponseSerializer<Value>(decoder: decoder, emptyResponses: emptyResponses)
        return response(queue: queue, using: serializer, completion: completion)
    }

    private func complete<Value>(
        on queue: DispatchQueue?,
        _ completion: @escaping @Sendable (DataResponse<Value, RefrainError>) -> Void,
        read: @escaping @Sendable (DownloadRequest) -> DataResponse<Value, RefrainError>
    ) -> Self {
        let completion = queue.dispatching(completion)
        whenEnded { [self] in completion(read(self)) }
        startIfWanted()
        return self
    }

    /// The response of an ended download, with what `read` makes of its file.
    private func response<Value>(
        _ read: (URL) -> Result<Value, RefrainError>
    ) -> DataResponse<Value, RefrainError> {
        let (outcome, sent) = ending
        let file = fileURL
        var response = DataResponse(outcome, of: sent, outcome.error.map { .failure($0) } ?? read(file))
        let isComplete = outcome.error == nil
        response.download = DownloadOutcome(fileURL: isComplete ? file : nil, resumeData: resumeData)
        return response
    }

    private func response<Serializer: ResponseSerializer>(
        using serializer: Serializer
    ) -> DataResponse<Serializer.Value, RefrainError> {
        let head = ending.outcome.response
        return response { file in
            guard var whole = head else {
                return .failure(.responseSerializationFailed(reason: .inputDataNilOrZeroLength))
            }
            do {
                whole.body = .bytes(try Data(contentsOf: file))
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
