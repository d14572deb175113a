#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The file of a download, to be awaited.
public struct DownloadTask: Sendable {
    private let request: DownloadRequest
    private let cancelsAutomatically: Bool

    init(_ request: DownloadRequest, cancelsAutomatically: Bool) {
        self.request = request
        self.cancelsAutomatically = cancelsAutomatically
        request.startIfWanted()
    }

    /// Everything that is known when the request has finished; the value is the file.
    public var response: DataResponse<URL, RefrainError> {
        get async {
            await request.ended(cancelsAutomatically: cancelsAutomatically)
            return responseAtEnd()
        }
    }

    private func responseAtEnd() -> DataResponse<URL, RefrainError> {
        let (outcome, sent) = request.ending
        return DataResponse(outcome, of: sent, outcome.error.map { .failure($0) } ?? .success(request.fileURL))
    }

    /// The file, or why there is none.
    public var result: Result<URL, RefrainError> { get async { await response.result } }

    /// The file.
    ///
    /// - Throws: ``RefrainError``.
    public var value: URL { get async throws(RefrainError) { try await response.result.get() } }

    /// Cancels the download; what has come so far is removed.
    public func cancel() { request.cancel() }
    /// Lets the download go on.
    public func resume() { request.resume() }
    /// Holds the download in mid-way.
    public func suspend() { request.suspend() }
}

extension DownloadRequest {
    /// A check of the caller's, given the request that was sent and the response.
    ///
    /// The response's body is in the file, or for a status other than 2xx on the response.
    public typealias Validation = @Sendable (HTTPRequest?, HTTPResponse) -> ValidationResult

    /// Starts the download, and waits for its file.
    public func serializingDownloadedFileURL(automaticallyCancelling: Bool = true) -> DownloadTask {
        DownloadTask(self, cancelsAutomatically: automaticallyCancelling)
    }

    /// Adds a validation; the request fails with the error of the first one that fails.
    @discardableResult
    public func validate(_ validation: @escaping Validation) -> Self {
        addValidation(checksStatus: false) { request, response in ValidationRules.error(validation(request, response)) }
        return self
    }

    /// Accepts these statuses only.
    @discardableResult
    public func validate(statusCode accepted: some Sequence<Int>) -> Self {
        let accepted = Set(accepted)
        addValidation(checksStatus: true) { _, response in
            ValidationRules.check(statusCode: response, isAccepted: accepted.contains)
        }
        return self
    }

    /// Accepts content of these types only; no content passes.
    @discardableResult
    public func validate(contentType accepted: some Sequence<String>) -> Self {
        let accepted = Array(accepted)
        addValidation(checksStatus: false) { _, response in
            let isEmpty = response.exchange.bytesReceived == 0
            return ValidationRules.check(contentType: response, in: accepted, isEmpty: isEmpty)
        }
        return self
    }

    /// Accepts statuses 200 to 299 with content of a type that the request's `Accept` allows.
    @discardableResult
    public func validate() -> Self {
        validate(statusCode: ValidationRules.acceptableStatusCodes)
        addValidation(checksStatus: false) { request, response in
            ValidationRules.check(accept: request, response, isEmpty: response.exchange.bytesReceived == 0)
        }
        return self
    }
}
