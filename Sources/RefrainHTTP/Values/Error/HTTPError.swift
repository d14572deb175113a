/// Why a request has no response: what happened, to which request, after which attempts, and what to do.
public struct HTTPError: ExhaustibleError, Sendable {
    private var contents: Boxed<Fields>

    /// Describes a failure.
    ///
    /// - Parameters:
    ///   - code: the kind of failure.
    ///   - request: the request that failed.
    ///   - response: what had arrived of a response.
    ///   - underlyingError: what the transport or the caller's code threw.
    ///   - message: what happened, in words that follow a colon.
    ///   - bytesSent: the bytes of the request that can have left this machine; nil where that is unknown.
    public init(
        _ code: Code,
        request: HTTPRequest,
        response: HTTPResponse? = nil,
        underlyingError: (any Error)? = nil,
        message: String? = nil,
        bytesSent: Int64? = nil
    ) {
        contents = Boxed(
            Fields(
                code: code,
                request: request,
                response: response,
                underlyingError: underlyingError,
                message: message,
                bytesSent: bytesSent
            )
        )
    }

    /// The kind of failure.
    public var code: Code {
        get { contents.fields.code }
        _modify { yield &contents.fields.code }
    }

    /// The request that failed, as the last stage sent it.
    public var request: HTTPRequest {
        get { contents.fields.request }
        _modify { yield &contents.fields.request }
    }

    /// What had arrived of a response, or the response that led to this error.
    public var response: HTTPResponse? {
        get { contents.fields.response }
        _modify { yield &contents.fields.response }
    }

    /// What the transport or the caller's code threw.
    public var underlyingError: (any Error)? {
        get { contents.fields.underlyingError }
        _modify { yield &contents.fields.underlyingError }
    }

    /// What happened, in words.
    public var message: String? {
        get { contents.fields.message }
        _modify { yield &contents.fields.message }
    }

    /// The bytes of the request, head and body, that can have left this machine; nil where that is unknown.
    ///
    /// It is 0 only where nothing can have left.
    public var bytesSent: Int64? {
        get { contents.fields.bytesSent }
        _modify { yield &contents.fields.bytesSent }
    }

    /// When the server wants the caller back; only with ``Code/comeBackLater``.
    public var comeBackAt: WallInstant? {
        get { contents.fields.comeBackAt }
        _modify { yield &contents.fields.comeBackAt }
    }

    /// The failure that the last attempt ended with, where this error says why there was no further one.
    public var lastFailure: Code? {
        get { contents.fields.lastFailure }
        _modify { yield &contents.fields.lastFailure }
    }

    /// The new bytes that a resumption brought before it was cut short; nil where the download cannot go on from here.
    ///
    /// More than zero makes the next resumption free (rule R11).
    public var progress: Int64? {
        get { contents.fields.progress }
        _modify { yield &contents.fields.progress }
    }

    /// Every attempt that the call made, in order (rule R29).
    public var attempts: [AttemptRecord] {
        get { contents.fields.attempts }
        _modify { yield &contents.fields.attempts }
    }

    /// Whether a retry loop has already spent its tries, its budget or its time on this failure (rule R24).
    ///
    /// So it has where the code says so, whoever made the error: what is held back by ``Pace`` was not tried at all,
    /// and still must not be tried before its time.
    public var retriesAreExhausted: Bool {
        code.endingReason != nil || (attempts.last?.reason.endsAllRetries ?? false)
    }

    /// Whether the request was called off (rule R9).
    ///
    /// It was cancelled, ended or refused by a reset, or ended with its session. So it is, too, where the caller's own
    /// code ended it with an error that says so, such as `CancellationError`.
    public var isCancellation: Bool {
        switch code {
        case .cancelled, .resetInProgress, .sessionInvalidated: true
        case .callerFailed, .userAuthenticationRequired: underlyingError?.saysCancelled ?? false
        default: false
        }
    }

    private struct Fields: Sendable {
        var code: Code
        var request: HTTPRequest
        var response: HTTPResponse?
        var underlyingError: (any Error)?
        var message: String?
        var bytesSent: Int64?
        var comeBackAt: WallInstant?
        var lastFailure: Code?
        var progress: Int64?
        var attempts: [AttemptRecord] = []
    }
}
