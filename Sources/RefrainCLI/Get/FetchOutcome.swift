// SPDX-License-Identifier: Apache-2.0
internal import Refrain

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The outcome of one request.
struct FetchOutcome: Sendable {
    let index: Int
    /// The URL as it is shown: without user and password.
    let url: String
    let method: String
    /// The response or the error; a response of status 400 or more is a failure, too.
    let result: HTTPResult
    /// The bytes of content that were delivered, or are kept to be continued.
    var bytes: Int64 = 0
    /// The bytes of the heads before the content in its file.
    var headSize: Int64 = 0
    var elapsed = Duration.zero
    /// When the request began.
    var began = WallClock.Instant.now
    /// What the response says that the request cost; nil: it was not asked for.
    var cost: Double?
    /// The file that was written.
    var file: String?
    /// The content that is printed in the order of the URLs.
    var content: [UInt8]?
    /// Whether the content went to standard output, whose reader may have closed it.
    var isPrinted = false
    /// Whether the content was delivered.
    var isDelivered = false
    /// Whether a partial file is kept that a later run can continue.
    var isPartial = false
    /// Whether it was done in an earlier run, and no request was made.
    var isSkipped = false
    /// When a request that must not be done twice was sent first, in seconds since 1970; nil: any other request.
    var begun: Double?
    /// How many of its attempts are in the state already.
    var countedSends = 0
    /// Whether the state said of each attempt that it was under way, so that its row does not wait for others.
    var isWrittenAtOnce = false
    /// Whether the server may have done a request that is sent once.
    var isUnknown = false
    /// A message about a partial file, or about an unknown outcome.
    var remark: String?
    /// Whether the condition of the command was met; nil: there is none.
    var isAwaited: Bool?
    /// The job, with the row of the state as it was before; nil: no request was sent.
    var job: FetchJob?
    /// The heads of the answers, where they were asked for.
    var heads: [ResponseHead] = []

    /// The last response, also if an error is the reason that there was no further attempt.
    var response: HTTPResponse? {
        switch result {
        case .success(let response): response
        case .failure(let error): error.response
        }
    }

    /// The status of the last response, also if an error is the reason that there was no further attempt.
    var status: HTTPStatus? {
        switch result {
        case .success(let response): response.status
        // A response that was cut short does not count; one that ended the call with an error does.
        case .failure(let error): error.attempts.last?.error == nil ? error.attempts.last?.status : nil
        }
    }

    var error: HTTPError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    var attempts: [AttemptRecord] { result.attempts }

    /// Whether the request succeeded; one that is skipped has, or is forgotten, whatever its last status was.
    var isSuccess: Bool { error == nil && (isSkipped || isAwaited ?? ((status?.rawValue ?? 0) < 400)) }

    /// Whether the server may have done what the request asks for, although it did not succeed.
    ///
    /// An answer of status 4xx, and a refusal in words, say that it has not (rule R2).
    ///
    /// - Parameter method: the method of the request; a redirect to another one follows the execution.
    func mayBeDone(_ method: HTTPMethod) -> Bool {
        guard !isSuccess else { return false }
        if lastRequest.method != method { return true }
        if let status {
            let isRefusal = status == .serviceUnavailable && response?.retryAfter != nil
            let isAnswer = (400..<500).contains(status.rawValue) || [501, 505, 506, 510, 511].contains(status.rawValue)
            return !isRefusal && !isAnswer
        }
        guard let error else { return true }
        return (attempts.last?.bytesSent ?? error.bytesSent).map { $0 > 0 } ?? !error.code.isKnownUnsent
    }

    /// The date after which the server accepts another request, if that is why the request ended.
    var retryAfterDate: WallClock.Instant? { error?.retryAfterDate }

    /// The URL of the response, after redirects.
    var effectiveURL: String { SanitizedURL.text(lastRequest.url.absoluteString) }

    /// The method of the last request, which a redirect can have changed.
    var effectiveMethod: String { lastRequest.method.rawValue }

    /// The last request that was sent.
    var lastRequest: HTTPRequest {
        switch result {
        case .success(let response): response.request
        case .failure(let error): error.request
        }
    }

    /// The bytes of the last request, head and body, with those of the redirects that led to it; as curl counts them.
    var bytesSent: Int64 {
        let counted = attempts.dropLast().filter { $0.reason == .redirected } + attempts.suffix(1)
        return counted.reduce(0) { $0.addingReportingOverflow($1.bytesSent ?? 0).partialValue }
    }

    /// When the last attempt began, counted from the beginning of the request.
    var lastStart: Duration { attempts.last?.start ?? .zero }

    /// The time that redirects took, up to the beginning of the first attempt at the last one's target.
    var redirectTime: Duration {
        guard let last = attempts.lastIndex(where: { $0.reason == .redirected }), last + 1 < attempts.count else {
            return .zero
        }
        return attempts[last + 1].start
    }

    /// The exit status that this outcome alone would give.
    var exitStatus: ExitStatus {
        if isSuccess { return .success }
        if retryAfterDate != nil { return .retryAfterTooLong }
        return (status?.rawValue ?? 0) >= 400 ? .httpError : .failure
    }

    /// Whether it failed because the reader of standard output closed it.
    ///
    /// The pipeline reports that; a broken pipe elsewhere must be reported here.
    var lostItsReader: Bool { isPrinted && (error?.underlyingError as? SystemError)?.isBrokenPipe == true }
}
