// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
public import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
@_exported public import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A transport on AsyncHTTPClient: connection pool, HTTP/2, TLS and event loops are those of the client.
///
/// ```swift
/// var configuration = HTTPClient.Configuration()
/// configuration.redirectConfiguration = .disallow
/// let client = HTTPClient(configuration: configuration)
/// let loader = Redirect()
///     --> Retry(.recommended)
///     --> AsyncHTTPClientLoader(client)
/// ```
///
/// The client stays the caller's, who shuts it down. It must not follow redirects, which `Redirect` does by the rules;
/// `HTTPClient.shared` does follow them. A response at the end of redirects that the client has followed is an error.
///
/// AsyncHTTPClient reports less than `CurlLoader`:
/// - **Bytes sent.** `HTTPError.bytesSent` is 0 where no connection was made, and nil for all other failures. So a POST
///   without an idempotency key is sent again only after a failed lookup, connect, proxy or time limit for these.
/// - **Timeouts.** Those of a request are kept, except that of connecting, which is the client's own
///   (`timeout.connect`) and includes the wait for a connection of the pool. The client tries to connect until that
///   ends, unless `connectionPool.retryConnectionEstablishment` is false. The first idle time is longer by the time for
///   connecting.
/// - **Failed certificates** are told apart from other failures of TLS, but not from each other.
/// - **Debug builds.** AsyncHTTPClient (seen in 1.33.1) stops a debug build with an assertion of its own if an answer
///   with a status of 300 or more arrives just before the end of a streamed body. A release build goes on.
public struct AsyncHTTPClientLoader: HTTPLoader {
    private let client: HTTPClient

    /// Makes a transport on a client.
    ///
    /// - Parameter client: makes the exchanges. It must not follow redirects.
    public init(_ client: HTTPClient) { self.client = client }

    /// Returns true: the limits are kept up to the end of the body, also of one that is streamed.
    public var keepsTimeouts: Bool { true }

    /// Loads a request.
    public func load(_ original: HTTPRequest) async -> HTTPResult {
        let request: HTTPRequest
        do {
            request = try original.validated()
        } catch {
            return .failure(error)
        }
        // The client would request "/" instead of such a path.
        guard !request.url.path.isEmpty || request.url.path(percentEncoded: true).isEmpty else {
            let message = "the path is not valid UTF-8 after percent-decoding, and AsyncHTTPClient cannot send it"
            return .failure(HTTPError(.badURL, request: request, message: message, bytesSent: 0))
        }
        let watch = AttemptWatch(request.attemptLimits)
        let response: HTTPClientResponse
        do {
            response = try await watch.exchange { [client] in
                try await client.execute(HTTPClientRequest(request, watch), deadline: .distantFuture)
            }
        } catch {
            return .failure(HTTPError(request, during: .exchange, error))
        }
        guard response.history.count <= 1 else {
            let message = "the client has followed a redirect; set its redirectConfiguration to .disallow"
            return .failure(HTTPError(.invalidRequest, request: request, message: message))
        }
        let head = HTTPResponse(response, to: request, watch)
        return request.streamsResponse ? .success(head) : await collected(head)
    }

    /// The response with its body in memory.
    private func collected(_ head: HTTPResponse) async -> HTTPResult {
        var whole = head
        let limit = head.request.maximumBodySize ?? HTTPRequest.defaultMaximumBodySize
        do {
            let bytes = try await head.body.collect(upTo: limit)
            whole.body = .bytes(bytes)
            whole.exchange.bytesReceived = Int64(bytes.count)
            return .success(whole)
        } catch let error as HTTPError {
            return .failure(error)
        } catch {
            let message = "\(error)"
            let code = error is HTTPBody.TooLarge ? HTTPError.Code.dataLengthExceedsMaximum : .unknown
            return .failure(HTTPError(code, request: head.request, underlyingError: error, message: message))
        }
    }
}

extension HTTPClientRequest {
    /// The request for the client; its fields are as they are in the request.
    ///
    /// The client drops user and password of a URL, which are sent as `Authorization` unless the request has its own.
    init(_ request: HTTPRequest, _ watch: AttemptWatch) {
        // The fragment is not sent (RFC 9110 §7.1).
        let url = URLText.sent(request.url)
        self.init(url: url.firstIndex(of: "#").map { String(url[..<$0]) } ?? url)
        method = .init(rawValue: request.method.rawValue)
        // The client undoes none of the codings in Alamofire's defaults unless it is configured to.
        let leavesCodings = request.headers.hasDefaultCodings
        for field in request.headers where !leavesCodings || !HTTPHeaders.isSame(field.name, "Accept-Encoding") {
            headers.add(name: field.name, value: field.value)
        }
        if let user = request.url.user(percentEncoded: false), !request.headers.contains("Authorization") {
            let password = request.url.password(percentEncoded: false) ?? ""
            let field = HTTPHeaders.Field.authorization(username: user, password: password)
            headers.add(name: field.name, value: field.value)
        }
        let body = request.body
        if let type = body.contentType, !request.headers.contains("Content-Type") {
            headers.add(name: "Content-Type", value: type)
        }
        guard !body.isEmpty else { return }
        if let bytes = body.bytesInMemory, bytes.count <= WatchedChunks.pieceSize {
            self.body = .bytes(ByteBuffer(bytes: bytes))
        } else {
            let length = body.length.map { Body.Length.known($0) } ?? .unknown
            // The idle time does not run while the source has nothing to send.
            self.body = .stream(WatchedChunks(body: body, watch: watch), length: length)
        }
    }
}

extension HTTPResponse {
    /// The response of the client; its body is a stream that is read once.
    init(_ response: HTTPClientResponse, to request: HTTPRequest, _ watch: AttemptWatch) {
        var headers = HTTPHeaders()
        for (name, value) in response.headers { headers.add(name, value) }
        let status = HTTPStatus(rawValue: Int(response.status.code))
        let version = response.version.major >= 2 ? "\(response.version.major)" : "1.\(response.version.minor)"
        self.init(
            request: request,
            status: status,
            headers: headers,
            exchange: Exchange(version: version)
        )
        let hasNone = request.method == .head || status.isInformational || [204, 205, 304].contains(status)
        guard !hasNone else { return }
        let head = self
        // nonisolated(unsafe): the iterator stays with the source, which has one reader at a time.
        nonisolated(unsafe) var iterator = response.body.makeAsyncIterator()
        let length = head.expectedLength
        var received: Int64 = 0
        body = HTTPBody(
            .oneShot(
                OneShotSource(
                    length: length,
                    ChunkSource {
                        do {
                            guard let buffer = try await watch.read({ try await iterator.next() }) else {
                                // The client checks that, too; a body that was cut is never a success (rule R10).
                                guard received >= length ?? 0 else { throw HTTPClientError.remoteConnectionClosed }
                                return nil
                            }
                            received += Int64(buffer.readableBytes)
                            return Array(buffer.readableBytesView)
                        } catch {
                            throw HTTPError(request, during: .body(head), error)
                        }
                    }
                )
            )
        )
    }
}

// NIOHTTP1 has types of these names; in this module they are Refrain's.
typealias HTTPHeaders = RefrainHTTP.HTTPHeaders
typealias HTTPMethod = RefrainHTTP.HTTPMethod
#endif
