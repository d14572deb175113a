/// Why a request has no response: what happened, to which request, after which attempts, and what to do.
public struct HTTPError: ExhaustibleError, Sendable {
    // Boxed, so that the result of a request that succeeds is not as large as one that fails.
    private var contents: Contents

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
        contents = Contents(code: code, request: request)
        contents.response = response
        contents.underlyingError = underlyingError
        contents.message = message
        contents.bytesSent = bytesSent
    }

    /// The kind of failure.
    public var code: Code {
        get { contents.code }
        set { modify { $0.code = newValue } }
    }

    /// The request that failed, as the last stage sent it.
    public var request: HTTPRequest {
        get { contents.request }
        set { modify { $0.request = newValue } }
    }

    /// What had arrived of a response, or the response that led to this error.
    public var response: HTTPResponse? {
        get { contents.response }
        set { modify { $0.response = newValue } }
    }

    /// What the transport or the caller's code threw.
    public var underlyingError: (any Error)? {
        get { contents.underlyingError }
        set { modify { $0.underlyingError = newValue } }
    }

    /// What happened, in words.
    public var message: String? {
        get { contents.message }
        set { modify { $0.message = newValue } }
    }

    /// The bytes of the request, head and body, that can have left this machine; nil where that is unknown.
    ///
    /// It is 0 only where nothing can have left.
    public var bytesSent: Int64? {
        get { contents.bytesSent }
        set { modify { $0.bytesSent = newValue } }
    }

    /// When the server wants the caller back; only with ``Code/comeBackLater``.
    public var comeBackAt: WallInstant? {
        get { contents.comeBackAt }
        set { modify { $0.comeBackAt = newValue } }
    }

    /// The failure that the last attempt ended with, where this error says why there was no further one.
    public var lastFailure: Code? {
        get { contents.lastFailure }
        set { modify { $0.lastFailure = newValue } }
    }

    /// The new bytes that a resumption brought before it was cut short; nil where the download cannot go on from here.
    ///
    /// More than zero makes the next resumption free (rule R11).
    public var progress: Int64? {
        get { contents.progress }
        set { modify { $0.progress = newValue } }
    }

    /// Every attempt that the call made, in order (rule R29).
    public var attempts: [AttemptRecord] {
        get { contents.attempts }
        set { modify { $0.attempts = newValue } }
    }

    /// Whether a retry loop has already spent its tries, its budget or its time on this failure (rule R24).
    public var retriesAreExhausted: Bool { attempts.last?.reason.endsAllRetries ?? false }

    private mutating func modify(_ change: (Contents) -> Void) {
        if !isKnownUniquelyReferenced(&contents) { contents = Contents(copying: contents) }
        change(contents)
    }
}

private final class Contents: @unchecked Sendable {
    // @unchecked Sendable: changed only while uniquely referenced by one value, and every part is Sendable.
    var code: HTTPError.Code
    var request: HTTPRequest
    var response: HTTPResponse?
    var underlyingError: (any Error)?
    var message: String?
    var bytesSent: Int64?
    var comeBackAt: WallInstant?
    var lastFailure: HTTPError.Code?
    var progress: Int64?
    var attempts: [AttemptRecord] = []

    init(code: HTTPError.Code, request: HTTPRequest) {
        self.code = code
        self.request = request
    }

    init(copying other: Contents) {
        code = other.code
        request = other.request
        response = other.response
        underlyingError = other.underlyingError
        message = other.message
        bytesSent = other.bytesSent
        comeBackAt = other.comeBackAt
        lastFailure = other.lastFailure
        progress = other.progress
        attempts = other.attempts
    }
}
