// SPDX-License-Identifier: Apache-2.0
#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A request that has no response: the failure, the request and its attempts.
public struct HTTPError: Error, Sendable {
    private var contents: CopyOnWriteBox<Fields>

    /// Makes an error.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - request: the request that failed.
    ///   - response: the response, as far as it arrived. Its attempts become those of the error (rule R29).
    ///   - underlyingError: the error thrown by the transport or by the caller's code.
    ///   - message: a description of the failure, to follow a colon.
    ///   - bytesSent: the bytes of the request that may have been sent; nil if unknown.
    public init(
        _ code: Code,
        request: HTTPRequest,
        response: HTTPResponse? = nil,
        underlyingError: (any Error)? = nil,
        message: String? = nil,
        bytesSent: Int64? = nil
    ) {
        contents = CopyOnWriteBox(
            Fields(
                code: code,
                request: request,
                response: response,
                underlyingError: underlyingError,
                message: message,
                bytesSent: bytesSent,
                attempts: response?.attempts ?? []
            )
        )
    }

    /// The kind of failure.
    public var code: Code {
        get { contents.fields.code }
        _modify { yield &contents.fields.code }
    }

    /// The request as the transport sent it.
    public var request: HTTPRequest {
        get { contents.fields.request }
        _modify { yield &contents.fields.request }
    }

    /// The response, as far as it arrived, or the response that led to this error.
    public var response: HTTPResponse? {
        get { contents.fields.response }
        _modify { yield &contents.fields.response }
    }

    /// The error thrown by the transport or by the caller's code.
    public var underlyingError: (any Error)? {
        get { contents.fields.underlyingError }
        _modify { yield &contents.fields.underlyingError }
    }

    /// A description of the failure.
    public var message: String? {
        get { contents.fields.message }
        _modify { yield &contents.fields.message }
    }

    /// The bytes of the request, head and body, that may have been sent; nil if unknown.
    ///
    /// Zero means that nothing was sent.
    public var bytesSent: Int64? {
        get { contents.fields.bytesSent }
        _modify { yield &contents.fields.bytesSent }
    }

    /// The time at which the server allows a retry.
    ///
    /// Only with ``Code/retryAfterTooLong`` and ``Code/circuitOpen``.
    public var retryAfterDate: WallClock.Instant? {
        get { contents.fields.retryAfterDate }
        _modify { yield &contents.fields.retryAfterDate }
    }

    /// The failure of the last attempt, if this error is the reason for not retrying it.
    public var lastFailure: Code? {
        get { contents.fields.lastFailure }
        _modify { yield &contents.fields.lastFailure }
    }

    /// The number of bytes that an interrupted resumption received; nil if the download cannot be resumed.
    ///
    /// After a resumption with progress, the next one does not count as a retry.
    public var progress: Int64? {
        get { contents.fields.progress }
        _modify { yield &contents.fields.progress }
    }

    /// Whether the response did not continue the download, so that the download starts over.
    package internal(set) var startsOver: Bool {
        get { contents.fields.startsOver }
        _modify { yield &contents.fields.startsOver }
    }

    /// The answer of the proxy that refused to connect to the host (RFC 9110 §9.3.6).
    ///
    /// Separate from ``response``: it does not come from the host.
    public package(set) var proxyAnswer: ProxyAnswer? {
        get { contents.fields.proxyAnswer }
        _modify { yield &contents.fields.proxyAnswer }
    }

    /// A proxy's answer to CONNECT.
    public struct ProxyAnswer: Sendable {
        /// Its status.
        public let status: HTTPStatus
        /// Its header fields.
        public let headers: HTTPHeaders

        /// Describes an answer.
        package init(status: HTTPStatus, headers: HTTPHeaders) {
            self.status = status
            self.headers = headers
        }
    }

    /// Every attempt that the call made, in order.
    public var attempts: [AttemptRecord] {
        get { contents.fields.attempts }
        _modify { yield &contents.fields.attempts }
    }

    /// What held the request back before it was sent, or before this error ended it; nil: nothing did.
    package var pacing: AttemptRecord.Pacing? {
        get { contents.fields.pacing ?? response?.exchange.pacing }
        set { contents.fields.pacing = newValue }
    }

    /// The retry budget in which a stage has made the deposit of the call, so that an outer stage does not repeat it.
    var creditedBudget: ObjectIdentifier? {
        get { contents.fields.creditedBudget }
        _modify { yield &contents.fields.creditedBudget }
    }

    private struct Fields: Sendable {
        var code: Code
        var request: HTTPRequest
        var response: HTTPResponse?
        var underlyingError: (any Error)?
        var message: String?
        var bytesSent: Int64?
        var retryAfterDate: WallClock.Instant?
        var lastFailure: Code?
        var progress: Int64?
        var startsOver = false
        var proxyAnswer: ProxyAnswer?
        var attempts: [AttemptRecord] = []
        var pacing: AttemptRecord.Pacing?
        var creditedBudget: ObjectIdentifier?
    }
}

extension HTTPError: CustomStringConvertible {
    /// The request, the failure, its cause and the attempts made.
    public var description: String {
        var text = "\(request) failed: \(code.rawValue)"
        if let message { text += " (\(message))" }
        if let lastFailure, lastFailure != code { text += "; the last attempt failed with \(lastFailure.rawValue)" }
        if let retryAfterDate { text += "; come back at \(HTTPDate.format(retryAfterDate))" }
        if let advice = code.advice { text += ". \(advice)" }
        if let note = attempts.budgetNote { text += ". \(note)" }
        for attempt in attempts { text += "\n  \(attempt)" }
        // A message may quote what the server sent.
        return PrintableText.plain(text)
    }
}

extension HTTPError: LocalizedError {
    /// The ``description``, for `localizedDescription`.
    public var errorDescription: String? { description }
}

extension HTTPError.Code {
    /// A remedy, if the code does not imply it.
    var advice: String? {
        switch self {
        case .requestBodyStreamExhausted: "Make the body from a factory, so that it can be read again"
        case .dataLengthExceedsMaximum: "Raise the limit, or stream the body"
        case .serverCertificateHasUnknownRoot: "Name the authority's certificate, if you trust it"
        case .bodyAlreadyRead: "Collect the bytes where the body is read first"
        default: nil
        }
    }
}
