internal import Refrain

/// What one URL came to.
struct FetchOutcome: Sendable {
    let index: Int
    /// The URL as it is shown: without user and password.
    let url: String
    let method: String
    /// The response or the error; a response of status 400 or more is a failure, too.
    let result: HTTPResult
    /// The bytes of content that were delivered.
    let bytes: Int64
    let elapsed: Duration
    /// The file that was written.
    let file: String?
    /// What is to be printed when it is this URL's turn.
    let content: [UInt8]?
    /// Whether the content went to standard output, whose reader may have had enough.
    let isPrinted: Bool

    /// The status of the last answer, also where an error says why there was no further try.
    var status: HTTPStatus? {
        switch result {
        case .success(let response): response.status
        // An answer that broke off is no answer; one that ended the call with an error of its own is.
        case .failure(let error): error.attempts.last?.error == nil ? error.attempts.last?.status : nil
        }
    }

    var error: HTTPError? {
        if case .failure(let error) = result { return error }
        return nil
    }

    var attempts: [AttemptRecord] { result.attempts }

    /// Whether this is what was asked for.
    var isSuccess: Bool { error == nil && (status?.rawValue ?? 0) < 400 }

    /// Whether the request was tried again, redirects aside.
    var wasRetried: Bool { attempts.contains { $0.decision == .retry && $0.reason != .redirected } }

    /// The exit status that this outcome alone would give.
    var exitStatus: ExitStatus {
        if isSuccess { return .success }
        return (status?.rawValue ?? 0) >= 400 ? .httpError : .failure
    }

    /// Whether it failed because nobody reads standard output any more.
    ///
    /// That is for the pipeline to judge; of any other pipe nobody else tells.
    var lostItsReader: Bool { isPrinted && (error?.underlyingError as? SystemError)?.isBrokenPipe == true }
}
