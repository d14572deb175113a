public import Dispatch

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

// A value that cannot be read from the file is no reason for a retry, as it is for a data request: the file is there.
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
    /// The file is read into memory when the download is complete. A value that cannot be read from it is no reason for
    /// a retry, as it is for a data request: the file is there.
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
