/// A response: status, fields and body, and the record of how it was won.
///
/// Any status is a response, also 503: an exchange that worked. Only a failure to exchange is an ``HTTPError``.
public struct HTTPResponse: Sendable {
    private var contents: Boxed<Fields>

    /// Makes a response.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty,
        exchange: ExchangeFacts = ExchangeFacts()
    ) {
        contents = Boxed(
            Fields(request: request, status: status, headers: headers, body: body, exchange: exchange)
        )
    }

    /// The request that was sent, as the last stage sent it.
    public var request: HTTPRequest {
        get { contents.fields.request }
        _modify { yield &contents.fields.request }
    }

    /// The status code.
    public var status: HTTPStatus {
        get { contents.fields.status }
        _modify { yield &contents.fields.status }
    }

    /// The header fields.
    public var headers: HTTPHeaders {
        get { contents.fields.headers }
        _modify { yield &contents.fields.headers }
    }

    /// The body: bytes, or a stream that can be read once where the request asked for one.
    public var body: HTTPBody {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// What the transport knows about the exchange.
    public var exchange: ExchangeFacts {
        get { contents.fields.exchange }
        _modify { yield &contents.fields.exchange }
    }

    // Beside the box: each stage that tries writes it anew, on a response that others know already.
    /// Every attempt that the call made, in order (rule R29).
    public var attempts: [AttemptRecord] = []

    /// Whether a retry loop has already spent its tries on this response (rule R24).
    public var retriesAreExhausted: Bool { attempts.last?.reason.endsAllRetries ?? false }

    private struct Fields: Sendable {
        var request: HTTPRequest
        var status: HTTPStatus
        var headers: HTTPHeaders
        var body: HTTPBody
        var exchange: ExchangeFacts
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

extension HTTPResponse {
    /// Empties a body that is read as it arrives, and that nobody will read: it holds a connection (rule R28).
    mutating func dropStream() {
        if body.dataInMemory == nil { body = .empty }
    }
}

extension HTTPResult {
    /// The result without a body that is read as it arrives.
    var withoutStream: HTTPResult {
        guard case .success(var response) = self else { return self }
        response.dropStream()
        return .success(response)
    }
}
