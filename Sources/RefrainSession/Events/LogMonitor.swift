// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif
#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// Writes one line for each event of each request, without secrets.
///
/// ```swift
/// let session = Session(
///     loader: loader, eventMonitors: [LogMonitor()]
/// )
/// ```
///
/// The values of query parameters and of secret header fields are `***`, and control characters are replaced, so that
/// what a server sends cannot forge a line. To log the values of harmless parameters, name those that are not, beside
/// the secrets: `LogMonitor(redaction: LogMonitor.Redaction(queryParameters: ["q"]))`.
///
/// Each line begins with the first eight characters of the request's identifier.
public struct LogMonitor: EventMonitor {
    /// The values that are not logged.
    public let redaction: Redaction
    /// Whether header fields are logged; defaults to false.
    public let showsHeaders: Bool

    private let write: @Sendable (String) -> Void

    /// Makes a log.
    ///
    /// - Parameters:
    ///   - redaction: the values that are not logged.
    ///   - showsHeaders: whether header fields are logged. Defaults to false.
    ///   - write: receives each line without its line feed. Defaults to the standard error.
    public init(
        redaction: Redaction = .standard,
        showsHeaders: Bool = false,
        write: @escaping @Sendable (String) -> Void = LogMonitor.writeToStandardError
    ) {
        self.redaction = redaction
        self.showsHeaders = showsHeaders
        self.write = write
    }

    /// Writes a line to the standard error.
    public static let writeToStandardError: @Sendable (String) -> Void = { line in
        var bytes = Array(line.utf8)
        bytes.append(UInt8(ascii: "\n"))
        _ = bytes.withUnsafeBytes { systemWrite(2, $0) }
    }

    /// Logs that a request was created.
    public func requestDidCreate(_ request: Request) { log(request, "created \(described(request.request))") }
    /// Logs that a request was started or resumed.
    public func requestDidResume(_ request: Request) { log(request, "resumed") }
    /// Logs that a request was suspended.
    public func requestDidSuspend(_ request: Request) { log(request, "suspended") }
    /// Logs that a request was cancelled.
    public func requestDidCancel(_ request: Request) { log(request, "cancelled") }

    /// Logs an adapted request.
    public func request(_ request: Request, didAdapt initial: HTTPRequest, to adapted: HTTPRequest) {
        log(request, "adapted to \(described(adapted))")
    }

    /// Logs the failure of an adapter.
    public func request(_ request: Request, didFailToAdapt initial: HTTPRequest, error: RefrainError) {
        log(request, "not adapted: \(described(error))")
    }

    /// Logs that an attempt was sent.
    public func request(_ request: Request, didStartAttempt number: Int, with sent: HTTPRequest) {
        log(request, "attempt \(number) sent: \(described(sent))")
    }

    /// Logs the result of an attempt.
    public func request(
        _ request: Request,
        didFinishAttempt number: Int,
        with result: HTTPResult,
        after duration: Duration
    ) {
        let outcome: String
        switch result {
        case .success(let response):
            let fields = showsHeaders ? " [\(redaction.text(of: response.headers))]" : ""
            outcome = "status \(response.status), \(response.content.count) bytes\(fields)"
        case .failure(let error): outcome = error.code.rawValue
        }
        log(request, "attempt \(number) ended after \(duration.inMilliseconds) ms: \(outcome)")
    }

    /// Logs the result of the validation.
    public func request(_ request: Request, didValidate response: HTTPResponse, error: RefrainError?) {
        log(request, error.map { "invalid: \(described($0))" } ?? "valid")
    }

    /// Logs a retry.
    public func request(_ request: Request, willRetryAfter delay: Duration, reason: RetryReason) {
        log(request, "again after \(delay.inMilliseconds) ms: \(reason)")
    }

    /// Logs that no retry follows.
    public func request(_ request: Request, didGiveUp reason: RetryReason) { log(request, "gave up: \(reason)") }

    /// Logs the end of a request.
    public func requestDidFinish(_ request: Request) {
        let outcome = request.error.map { "failed: \(described($0))" } ?? "finished"
        log(request, "\(outcome) after \(request.attempts.count) attempts")
    }

    private func described(_ request: HTTPRequest?) -> String {
        guard let request else { return "no request" }
        let fields =
            showsHeaders ? " [\(redaction.text(of: request.headers, hiding: request.secretHeaders))]" : ""
        return "\(request.method) \(redaction.text(of: request.url))\(fields)"
    }

    /// The kind of an error, without its messages, which may quote URLs and bodies.
    private func described(_ error: RefrainError) -> String {
        switch error {
        case .sessionTaskFailed(let error): error.code.rawValue
        case .requestAdaptationFailed(_, let name, _): "the adapter \(name) failed"
        case .requestRetryFailed(_, _, let name): "the retrier \(name) failed"
        case .responseValidationFailed(.unacceptableStatusCode(let code), _): "status \(code)"
        case .responseValidationFailed(.customValidationFailed, _): "a check of the caller's"
        case .responseSerializationFailed: "the response could not be read"
        case .invalidURL: "the URL is invalid"
        case .createRequestFailed, .parameterEncodingFailed: "the request could not be made"
        case .sessionInvalidated: "the session was invalidated"
        default: String(error.description.map { $0.isNewline ? " " : $0 })
        }
    }

    private func log(_ request: Request, _ event: String) {
        // One event is one line, whatever a server has sent.
        write("\(request.id.uuidString.prefix(8)) \(PrintableText.line(event))")
    }
}

private func systemWrite(_ descriptor: Int32, _ buffer: UnsafeRawBufferPointer) -> Int {
    write(descriptor, buffer.baseAddress, buffer.count)
}
