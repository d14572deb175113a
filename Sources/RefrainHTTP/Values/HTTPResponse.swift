/// A response: status, fields and body, and the record of how it was won.
///
/// Any status is a response, also 503: an exchange that worked. Only a failure to exchange is an ``HTTPError``.
public struct HTTPResponse: Sendable {
    // Boxed, as a request is: a result is handed back through as many functions.
    private var contents: Contents

    /// Makes a response.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty,
        exchange: ExchangeFacts = ExchangeFacts()
    ) {
        contents = Contents(request, status, headers, body, exchange)
    }

    /// The request that was sent, as the last stage sent it.
    public var request: HTTPRequest {
        get { contents.request }
        _modify {
            makeUnique()
            yield &contents.request
        }
    }

    /// The status code.
    public var status: HTTPStatus {
        get { contents.status }
        _modify {
            makeUnique()
            yield &contents.status
        }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { contents.headers }
        _modify {
            makeUnique()
            yield &contents.headers
        }
    }

    /// The body: bytes, or a stream that can be read once where the request asked for one.
    public var body: HTTPBody {
        get { contents.body }
        _modify {
            makeUnique()
            yield &contents.body
        }
    }

    /// What the transport knows about the exchange.
    public var exchange: ExchangeFacts {
        get { contents.exchange }
        _modify {
            makeUnique()
            yield &contents.exchange
        }
    }

    /// Every attempt that the call made, in order (rule R29).
    public var attempts: [AttemptRecord] {
        get { contents.attempts }
        _modify {
            makeUnique()
            yield &contents.attempts
        }
    }

    /// Whether a retry loop has already spent its tries on this response (rule R24).
    public var retriesAreExhausted: Bool { attempts.last?.reason.endsAllRetries ?? false }

    private mutating func makeUnique() {
        guard !isKnownUniquelyReferenced(&contents) else { return }
        contents = Contents(copying: contents)
    }
}

private final class Contents: @unchecked Sendable {
    // @unchecked Sendable: changed only while uniquely referenced by one value, and every part is Sendable.
    var request: HTTPRequest
    var status: HTTPStatus
    var headers: HTTPHeaders
    var body: HTTPBody
    var exchange: ExchangeFacts
    var attempts: [AttemptRecord] = []

    init(
        _ request: HTTPRequest,
        _ status: HTTPStatus,
        _ headers: HTTPHeaders,
        _ body: HTTPBody,
        _ exchange: ExchangeFacts
    ) {
        self.request = request
        self.status = status
        self.headers = headers
        self.body = body
        self.exchange = exchange
    }

    init(copying other: Contents) {
        request = other.request
        status = other.status
        headers = other.headers
        body = other.body
        exchange = other.exchange
        attempts = other.attempts
    }
}

/// What became of a request: a response of any status, or an error.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

/// What a transport knows about one exchange.
public struct ExchangeFacts: Hashable, Sendable {
    /// The bytes of the request, head and body, that can have left this machine; nil where the transport cannot tell.
    public var bytesSent: Int64?
    /// The bytes of the response's body that arrived, as they came over the wire.
    public var bytesReceived: Int64
    /// The version of HTTP, such as `1.1` or `2`.
    public var version: String
    /// Whether the exchange went over a connection that had served another one before.
    public var reusedConnection: Bool

    /// Describes an exchange.
    public init(
        bytesSent: Int64? = nil,
        bytesReceived: Int64 = 0,
        version: String = "1.1",
        reusedConnection: Bool = false
    ) {
        self.bytesSent = bytesSent
        self.bytesReceived = bytesReceived
        self.version = version
        self.reusedConnection = reusedConnection
    }
}
