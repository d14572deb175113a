// SPDX-License-Identifier: Apache-2.0
/// An HTTP response: status, header fields, body, and the record of its attempts.
///
/// A response of any status, also 503, is a completed exchange. Only a failed exchange is an ``HTTPError``.
public struct HTTPResponse: Sendable {
    private var contents: CopyOnWriteBox<Fields>

    /// Makes a response.
    public init(
        request: HTTPRequest,
        status: HTTPStatus,
        headers: HTTPHeaders = [:],
        body: HTTPBody = .empty,
        exchange: Exchange = Exchange()
    ) {
        contents = CopyOnWriteBox(
            Fields(request: request, status: status, headers: headers, body: body, exchange: exchange)
        )
    }

    /// The request as the transport sent it.
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

    /// The body: bytes in memory, or a stream that can be read once if the request selected streaming.
    public var body: HTTPBody {
        get { contents.fields.body }
        _modify { yield &contents.fields.body }
    }

    /// What the transport reports about the exchange.
    public var exchange: Exchange {
        get { contents.fields.exchange }
        _modify { yield &contents.fields.exchange }
    }

    // Outside the box: each retry stage sets both, on a response that other tasks may share.
    /// Every attempt that the call made, in order.
    ///
    /// An error that ends the reading of a streamed body has them, too (rule R29).
    public var attempts: [AttemptRecord] = [] {
        didSet { if case .oneShot(let source) = body.storage { source.record(attempts) } }
    }
    /// The retry budget in which a stage has made the deposit of the call, so that an outer stage does not repeat it.
    var creditedBudget: ObjectIdentifier?

    /// Whether an outer retry loop must not repeat the call.
    ///
    /// True if the attempts, budget or time are used up, if the request must not be sent twice, or if the caller's
    /// retrier declined.
    public var retriesAreExhausted: Bool { attempts.retriesAreExhausted }

    private struct Fields: Sendable {
        var request: HTTPRequest
        var status: HTTPStatus
        var headers: HTTPHeaders
        var body: HTTPBody
        var exchange: Exchange
    }
}

extension HTTPResponse: CustomStringConvertible {
    /// One line: status, request, size of the body and, if there was more than one, the number of attempts.
    ///
    /// For example `200 OK, GET https://example.com/, 3 bytes, 2 attempts`. The URL is without its user information; a
    /// body that is not in memory is `a stream`.
    public var description: String {
        let bytes = body.dataInMemory.map { $0.count == 1 ? "1 byte" : "\($0.count) bytes" }
        var text = "\(status) \(status.message), \(request), \(bytes ?? "a stream")"
        if attempts.count > 1 { text += ", \(attempts.count) attempts" }
        return text
    }
}

/// The outcome of a request: a response of any status, or an error.
public typealias HTTPResult = Result<HTTPResponse, HTTPError>

extension HTTPResponse {
    /// What a transport reports about one exchange.
    public struct Exchange: Hashable, Sendable {
        /// The bytes of the request, head and body, that may have been sent; nil if the transport cannot tell.
        public var bytesSent: Int64?
        /// The bytes of the response's body that were received, before decoding.
        public var bytesReceived: Int64
        /// The HTTP version, such as `1.1` or `2`.
        public var version: String
        /// Whether the exchange reused a connection.
        public var reusedConnection: Bool
        // Apart: few exchanges have it, and every response and every transfer would have room for it.
        private var recorded = Recorded.nothing

        /// The addresses and times of the exchange; nil unless ``HTTPRequest/recordsConnection`` is set.
        ///
        /// `CurlLoader` reports them. With other transports it is nil, too.
        public var connection: Connection? {
            get { recorded.facts.connection }
            set { recorded.facts.connection = newValue }
        }

        /// What held the request back before it was sent, or nil.
        package var pacing: AttemptRecord.Pacing? {
            get { recorded.facts.pacing }
            set { recorded.facts.pacing = newValue }
        }

        private enum Recorded: Hashable {
            case nothing
            indirect case facts(Facts)

            var facts: Facts {
                get { if case .facts(let facts) = self { facts } else { Facts() } }
                set { self = newValue == Facts() ? .nothing : .facts(newValue) }
            }
        }

        private struct Facts: Hashable {
            var connection: Connection?
            var pacing: AttemptRecord.Pacing?
        }

        /// Makes a description of an exchange.
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
}

extension HTTPResponse.Exchange {
    /// The addresses and sizes of an exchange, and the times of its parts, from the beginning of the attempt.
    public struct Connection: Hashable, Sendable {
        /// The time until the name was looked up.
        public var nameLookup = Duration.zero
        /// The time until the connection was made; zero for one that was reused.
        public var connect = Duration.zero
        /// The time until the TLS handshake was done; nil without TLS.
        public var handshake: Duration?
        /// The time until the request was about to be sent.
        public var preTransfer = Duration.zero
        /// The time until the first byte of the response arrived.
        public var firstByte = Duration.zero
        /// The IP address of the server, or of the proxy.
        public var remoteAddress = ""
        /// The port of the server, or of the proxy.
        public var remotePort = 0
        /// The IP address of this side.
        public var localAddress = ""
        /// The port of this side.
        public var localPort = 0
        /// The status of the proxy's response to CONNECT when the connection was made; 0 where there was none.
        public var proxyStatus = 0
        /// The size of the head of the response in bytes, with the informational ones before it.
        public var headSize = 0
        /// The bytes of the body of the request that were sent when the head of the response had arrived.
        public var uploadSize: Int64 = 0

        /// Makes an empty report.
        public init() {}
    }
}

extension HTTPResponse {
    /// Discards a streamed body that will not be read, which frees its connection.
    mutating func dropStream() {
        if body.dataInMemory == nil { body = .empty }
    }
}

extension HTTPResult {
    /// The result without a streamed body.
    var withoutStream: HTTPResult {
        guard case .success(var response) = self else { return self }
        response.dropStream()
        return .success(response)
    }
}
