// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The result of a finished request: the request, the response, the value or the error, and the attempts.
public struct DataResponse<Success: Sendable, Failure: Error>: Sendable {
    /// The value or the error.
    public let result: Result<Success, Failure>
    // One reference for the rest: a caller that waits for a response has room for it in its frame, more than once.
    private let exchange: Exchange

    /// The request that the last attempt sent.
    public var request: HTTPRequest? { exchange.request }
    /// The response, valid or not, or nil.
    public var response: HTTPResponse? { exchange.response }
    /// Every attempt in order, with its decision and reason.
    public var attempts: [AttemptRecord] { exchange.attempts }
    private var download: DownloadOutcome? { exchange.download }

    /// Makes a response, for tests of code that takes one.
    public init(
        request: HTTPRequest?,
        response: HTTPResponse?,
        result: Result<Success, Failure>,
        attempts: [AttemptRecord] = []
    ) {
        self.init(Exchange(request, response, attempts), result)
    }

    private init(_ exchange: Exchange, _ result: Result<Success, Failure>) {
        self.exchange = exchange
        self.result = result
    }

    /// The body, or nil if there is none.
    public var data: Data? { response.map(\.content).flatMap { $0.isEmpty ? nil : $0 } }
    /// The value, or nil.
    public var value: Success? { try? result.get() }
    /// The error, or nil.
    public var error: Failure? {
        guard case .failure(let error) = result else { return nil }
        return error
    }
    /// The file of a download that has succeeded; nil for other requests.
    public var fileURL: URL? { download?.fileURL }
    /// The data to resume a download with, see ``DownloadRequest/resumeData``; nil for other requests.
    public var resumeData: Data? { download?.part?.resumeData }
    /// The transport's report on the last exchange; without a response, the bytes that may have been sent.
    ///
    /// Nil if there was no attempt.
    public var metrics: HTTPResponse.Exchange? {
        response?.exchange ?? attempts.last.map { HTTPResponse.Exchange(bytesSent: $0.bytesSent) }
    }
}

/// The part of a response that describes its exchange, whatever its value is.
private final class Exchange: Sendable {
    let request: HTTPRequest?
    let response: HTTPResponse?
    let attempts: [AttemptRecord]
    let download: DownloadOutcome?

    init(
        _ request: HTTPRequest?,
        _ response: HTTPResponse?,
        _ attempts: [AttemptRecord],
        _ download: DownloadOutcome? = nil
    ) {
        self.request = request
        self.response = response
        self.attempts = attempts
        self.download = download
    }

    /// The exchange of a request that has ended.
    convenience init(_ ending: Request.Ending, _ download: DownloadOutcome?) {
        self.init(ending.request, ending.outcome.response, ending.outcome.attempts, download)
    }
}

extension DataResponse where Failure == RefrainError {
    /// The response of a request that has ended, with what `read` makes of its outcome.
    init(of request: Request, _ read: Request.Reader<Success>) {
        let ending = request.ending
        exchange = Exchange(ending, request.download)
        do throws(RefrainError) {
            result = .success(try ending.value(read))
        } catch {
            result = .failure(error)
        }
    }
}

extension DataResponse {
    /// This response with another value.
    public func map<NewSuccess>(_ transform: (Success) -> NewSuccess) -> DataResponse<NewSuccess, Failure> {
        with(result.map(transform))
    }

    /// This response with another value, or with what `transform` throws.
    public func tryMap<NewSuccess>(
        _ transform: (Success) throws -> NewSuccess
    ) -> DataResponse<NewSuccess, any Error> {
        with(Result { try transform(result.get()) })
    }

    /// This response with another error.
    public func mapError<NewFailure>(_ transform: (Failure) -> NewFailure) -> DataResponse<Success, NewFailure> {
        with(result.mapError(transform))
    }

    /// This response with another error, or with what `transform` throws.
    public func tryMapError<NewFailure: Error>(
        _ transform: (Failure) throws -> NewFailure
    ) -> DataResponse<Success, any Error> {
        with(
            result.flatMapError { failure in
                do { return .failure(try transform(failure)) } catch { return .failure(error) }
            }
        )
    }

    private func with<NewSuccess, NewFailure>(
        _ result: Result<NewSuccess, NewFailure>
    ) -> DataResponse<NewSuccess, NewFailure> {
        DataResponse<NewSuccess, NewFailure>(exchange, result)
    }
}

extension DataResponse: CustomStringConvertible, CustomDebugStringConvertible {
    /// The result: `success(…)` or `failure(…)`.
    public var description: String { "\(result)" }

    /// Request, response with its fields, size of the body and result, one on each line; bodies are not shown.
    public var debugDescription: String {
        """
        [Request]: \(request.map { "\($0)" } ?? "None")
        [Response]: \(response.map { "\($0.statusCode) \($0.message)\n\($0.headers)" } ?? "None")
        [Data]: \(data.map { "\($0.count) bytes" } ?? "None")
        [Attempts]: \(attempts.count)
        [Result]: \(result)
        """
    }
}
