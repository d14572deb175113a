// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The facts of a failure, and the mapping to its code.
struct CurlErrorMapping {
    var result: CURLcode
    var message = ""
    /// Whether libcurl has provided a message of its own.
    var hasMessage = true
    /// Whether libcurl began to send the request.
    var wasSent = false
    /// Whether no name server has answered.
    var isNameServerSilent = false
    var headIsComplete = false
    var isPaused = false
    var resendWasRefused = false
    var streamWasRefused = false
    /// Whether nghttp2 rejected the server's frames.
    var inputWasRefused = false
    var systemError: Int32 = 0
    /// OpenSSL's result of verifying the certificate (X509_V_ERR_…).
    var verification = 0
    /// Whether the client had a certificate to send.
    var hasClientCertificate = false
    /// The status of the proxy's response to CONNECT.
    var proxyStatus = 0
    /// Whether that response is transient.
    var proxyMayConnectLater = true

    var code: HTTPError.Code {
        if inputWasRefused, !headIsComplete { return .badServerResponse }
        if resendWasRefused { return streamWasRefused ? .requestNotProcessed : .networkConnectionLost }
        if refusesTunnel {
            if proxyStatus == 407 { return .proxyAuthenticationRequired }
            return proxyMayConnectLater ? .cannotConnectToHost : .proxyRefused
        }
        switch result {
        case CURLE_URL_MALFORMAT: return .badURL
        // Also "Received HTTP/0.9 when not allowed".
        case CURLE_UNSUPPORTED_PROTOCOL: return wasSent ? .badServerResponse : .unsupportedURL
        case CURLE_COULDNT_RESOLVE_HOST: return isNameServerSilent ? .dnsLookupFailed : .cannotFindHost
        case CURLE_COULDNT_RESOLVE_PROXY: return .cannotFindProxy
        case CURLE_COULDNT_CONNECT: return connectCode
        // The interface or address to connect from, which may become available.
        case CURLE_INTERFACE_FAILED: return .cannotConnectToHost
        case CURLE_PROXY: return proxyCode
        case CURLE_OPERATION_TIMEDOUT: return .timedOut
        case CURLE_SSL_CONNECT_ERROR: return handshakeCode
        case CURLE_PEER_FAILED_VERIFICATION: return certificateCode
        case Self.clientCertificateWanted: return .clientCertificateRequired
        // The client's own certificate: permanently unreadable, or not that of its key.
        case CURLE_SSL_CERTPROBLEM: return .clientCertificateRejected
        // Newer versions (8.23) return it for an invalid key.
        case CURLE_BAD_FUNCTION_ARGUMENT where message.contains("private key"): return .clientCertificateRejected
        // Ciphers or curves that the TLS library does not know: no handshake was tried, and none would succeed.
        case CURLE_SSL_CIPHER: return .invalidRequest
        case CURLE_SSL_CACERT_BADFILE, CURLE_SSL_ENGINE_INITFAILED, CURLE_SSL_ISSUER_ERROR,
            CURLE_SSL_INVALIDCERTSTATUS, CURLE_SSL_CRL_BADFILE:
            return .secureConnectionFailed
        case CURLE_SSL_PINNEDPUBKEYNOTMATCH: return .serverCertificateUntrusted
        case CURLE_WEIRD_SERVER_REPLY: return .badServerResponse
        // A trailer that is not a field, or a head that begins with a folded line.
        case CURLE_BAD_FUNCTION_ARGUMENT where wasSent: return .badServerResponse
        case CURLE_GOT_NOTHING, CURLE_PARTIAL_FILE: return .networkConnectionLost
        // CURLE_SEND_FAIL_REWIND: libcurl tried to send the body again, which it cannot.
        case CURLE_HTTP2_STREAM where isMalformedHead: return .badServerResponse
        case CURLE_SEND_ERROR, CURLE_HTTP2_STREAM, CURLE_SEND_FAIL_REWIND:
            return streamWasRefused && !headIsComplete ? .requestNotProcessed : .networkConnectionLost
        case CURLE_RECV_ERROR: return receiveCode
        case CURLE_HTTP2 where streamWasRefused: return .requestNotProcessed
        // Newer versions (8.23) return it without a message of their own if the connection was closed.
        case CURLE_HTTP2: return hasMessage ? .badServerResponse : .networkConnectionLost
        // Newer versions (8.23) reject a transfer coding themselves.
        case CURLE_BAD_CONTENT_ENCODING where message.contains("Transfer-Encoding"): return .badServerResponse
        // A decoding failure is a failed write if no callback of Refrain's has failed.
        case CURLE_BAD_CONTENT_ENCODING, CURLE_WRITE_ERROR: return .cannotDecodeContentData
        case CURLE_OUT_OF_MEMORY, Self.tooLarge: return memoryCode
        case CURLE_FILESIZE_EXCEEDED: return .dataLengthExceedsMaximum
        default: return .unknown
        }
    }

    /// CURLE_TOO_LARGE, from libcurl 8.6 on: a limit is exceeded, but memory has not run out.
    private static let tooLarge = CURLcode(rawValue: 100)

    /// CURLE_SSL_CLIENTCERT, from libcurl 7.77 on.
    private static let clientCertificateWanted = CURLcode(rawValue: 98)

    /// Whether the stream ended because of a head that HTTP/2 forbids (RFC 9113 §8.1.1).
    ///
    /// After a complete head the same error means a truncated body, which is a lost connection.
    private var isMalformedHead: Bool {
        !headIsComplete
            && ["PROTOCOL_ERROR", "COMPRESSION_ERROR", "FRAME_SIZE_ERROR", "Invalid HTTP header"]
                .contains { message.contains($0) }
    }

    /// Whether the proxy responded with a failure to connect.
    var refusesTunnel: Bool { !wasSent && proxyStatus >= 300 }

    /// Whether a line of the head was longer than libcurl's limit of 100 KB, which ends as CURLE_OUT_OF_MEMORY.
    var lineIsTooLong: Bool { [CURLE_OUT_OF_MEMORY, Self.tooLarge].contains(result) && wasSent && !headIsComplete }

    /// The code of CURLE_OUT_OF_MEMORY, which libcurl also returns if a limit of its own is exceeded.
    private var memoryCode: HTTPError.Code {
        if lineIsTooLong { return .badServerResponse }
        // A piece of a body that expands to more than 64 MB while the reader is slow.
        return isPaused ? .dataLengthExceedsMaximum : .unknown
    }

    private var connectCode: HTTPError.Code {
        switch systemError {
        case ENETDOWN, ENETUNREACH: .notConnectedToInternet
        default: .cannotConnectToHost
        }
    }

    private var proxyCode: HTTPError.Code {
        if message.contains("resolve") { return .cannotFindHost }
        // A SOCKS proxy has permanently rejected user and password.
        let refusals = ["User was rejected", "No authentication method was acceptable"]
        if refusals.contains(where: message.contains) { return .proxyAuthenticationRequired }
        // Its rules forbid the connection, or it does not support the command or the kind of address (RFC 1928 §6).
        let isFinal = message.contains("SOCKS5") && ["(2)", "(7)", "(8)"].contains(where: message.hasSuffix)
        return isFinal ? .proxyRefused : .cannotConnectToHost
    }

    private var handshakeCode: HTTPError.Code {
        if let refusal = clientCertificateCode { return refusal }
        // OpenSSL has any other result before it has received a certificate.
        return [2, 9, 10, 18, 19, 20, 21].contains(verification) ? certificateCode : .secureConnectionFailed
    }

    private var certificateCode: HTTPError.Code {
        // For the server's certificate libcurl's message has the reason. Without one it is the server's alert that the
        // client's certificate has expired.
        if message == "SSL certificate verification failed" { return .clientCertificateRejected }
        return switch verification {
        case 10: .serverCertificateHasBadDate
        case 9: .serverCertificateNotYetValid
        // Issuer not found, self-signed, self-signed in chain, issuer not found locally, leaf cannot be verified.
        case 2, 18, 19, 20, 21: .serverCertificateHasUnknownRoot
        default: .serverCertificateUntrusted
        }
    }

    private var receiveCode: HTTPError.Code {
        // The proxy was lost before it connected.
        if !wasSent { return .cannotConnectToHost }
        // "Invalid status line" over HTTP/2, from versions 8.7 only.
        if ["chunked-encoding", "chunk hex-length", "invalid chunk size", "Invalid status line"]
            .contains(where: message.contains)
        {
            return .badServerResponse
        }
        return clientCertificateCode ?? .networkConnectionLost
    }

    /// The code of the server's alert about the client's certificate; nil without such an alert.
    ///
    /// Before TLS 1.3 there is no alert for a missing certificate; some servers (Java's) report a bad one.
    private var clientCertificateCode: HTTPError.Code? {
        if message.contains("alert certificate required") { return .clientCertificateRequired }
        let refusals = [
            "bad certificate", "unsupported certificate", "certificate revoked", "certificate expired",
            "certificate unknown", "unknown ca", "access denied",
        ]
        guard refusals.contains(where: { message.contains("alert " + $0) }) else { return nil }
        return hasClientCertificate ? .clientCertificateRejected : .clientCertificateRequired
    }
}

extension CurlLoader {
    /// A failure as libcurl reports it: the underlying error of an `HTTPError`.
    public struct Failure: LocalizedError, Hashable, Sendable, CustomStringConvertible {
        /// The number of the error, a `CURLcode`.
        public let code: Int32
        /// libcurl's message.
        public let message: String

        /// Makes a failure.
        public init(code: Int32, message: String) {
            self.code = code
            self.message = message
        }

        /// The message and the number.
        public var description: String { "\(message) (libcurl \(code))" }
        /// The ``description``, for `localizedDescription`.
        public var errorDescription: String? { description }

        /// libcurl's message without user information.
        ///
        /// It may quote an invalid proxy URL of the environment, in which the end of a password cannot be determined.
        static func withoutUserinfo(_ words: String) -> String {
            guard let at = words.utf8.lastIndex(of: UInt8(ascii: "@")) else { return words }
            let quote = words[..<at].utf8.firstIndex(of: UInt8(ascii: "'"))
            let start = quote.map { words.utf8.index(after: $0) } ?? words.startIndex
            return words[..<start] + "…" + words[at...]
        }
    }
}
