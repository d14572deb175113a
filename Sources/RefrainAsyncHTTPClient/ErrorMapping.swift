// SPDX-License-Identifier: Apache-2.0
#if AsyncHTTPClient
internal import AsyncHTTPClient
internal import NIOCore
internal import NIOHTTP1
internal import NIOPosix
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension HTTPError {
    /// When a failure came.
    enum Phase {
        /// Before the head of a response.
        case exchange
        /// While the body of this response was read.
        case body(HTTPResponse)
    }

    /// Makes the error for one of the client.
    ///
    /// The bytes sent are 0 where the client had no connection for the request, and otherwise unknown: what it has
    /// written it does not say, so nothing is taken for unsent that may have left (rule R2).
    init(_ request: HTTPRequest, during phase: Phase, _ error: any Error) {
        var (code, isUnsent) = Self.classify(error)
        if Task.isCancelled, code == .unknown || error is CancellationError { (code, isUnsent) = (.cancelled, false) }
        if case .body = phase { isUnsent = false }
        self.init(
            code,
            request: request,
            underlyingError: error,
            message: "\(error)",
            bytesSent: isUnsent ? 0 : nil
        )
    }

    /// The code of an error of the client, and whether the client had no connection for the request.
    static func classify(_ error: any Error) -> (code: Code, isUnsent: Bool) {
        switch error {
        case is AttemptWatch.LimitPassed: (.timedOut, false)
        case let error as HTTPClientError: classify(error)
        case let error as NIOConnectionError:
            (error.connectionErrors.isEmpty ? .cannotFindHost : .cannotConnectToHost, true)
        case let error as IOError:
            error.errnoCode == ECONNREFUSED ? (.cannotConnectToHost, true) : (.networkConnectionLost, false)
        case let error as ChannelError: classify(error)
        // A message that ends in its middle is a connection that was closed.
        case HTTPParserError.invalidEOFState: (.networkConnectionLost, false)
        case is HTTPParserError: (.badServerResponse, false)
        case is CancellationError: (.unknown, false)
        default: classify(unknown: error)
        }
    }

    private static func classify(_ error: HTTPClientError) -> (code: Code, isUnsent: Bool) {
        switch error {
        case .connectTimeout, .tlsHandshakeTimeout, .socksHandshakeTimeout, .httpProxyHandshakeTimeout,
            .getConnectionFromPoolTimeout:
            (.timedOut, true)
        case .readTimeout, .writeTimeout, .deadlineExceeded: (.timedOut, false)
        case .remoteConnectionClosed, .uncleanShutdown: (.networkConnectionLost, false)
        case .alreadyShutdown: (.sessionInvalidated, true)
        case .proxyAuthenticationRequired: (.proxyAuthenticationRequired, true)
        case .invalidProxyResponse: (.proxyRefused, true)
        case .invalidURL, .emptyHost, .emptyScheme: (.badURL, true)
        case .bodyLengthMismatch: (.invalidRequest, false)
        case .traceRequestWithBody: (.invalidRequest, true)
        case .redirectLimitReached, .redirectCycleDetected: (.httpTooManyRedirects, false)
        default: (.unknown, false)
        }
    }

    private static func classify(_ error: ChannelError) -> (code: Code, isUnsent: Bool) {
        switch error {
        case .connectTimeout: (.timedOut, true)
        case .ioOnClosedChannel, .alreadyClosed, .outputClosed, .inputClosed, .eof: (.networkConnectionLost, false)
        default: (.unknown, false)
        }
    }

    /// Errors of TLS and HTTP/2 have types that only their packages name.
    private static func classify(unknown error: any Error) -> (code: Code, isUnsent: Bool) {
        let type = String(reflecting: Swift.type(of: error))
        if type.hasPrefix("NIOSSL.") {
            let text = "\(error)"
            if ["CERTIFICATE_VERIFY_FAILED", "failedToValidateHostname"].contains(where: text.contains) {
                return (.serverCertificateUntrusted, false)
            }
            // After the handshake a request may have left, so only a handshake counts as one (rule R2).
            return (text.hasPrefix("handshakeFailed") ? .secureConnectionFailed : .networkConnectionLost, false)
        }
        return (type.hasPrefix("NIOHTTP2.") ? .networkConnectionLost : .unknown, false)
    }
}
#endif
