// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
public import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

extension CurlLoader {
    /// The settings of a loader: how it connects, and what it adds to requests.
    public struct Configuration: Sendable {
        /// The maximum number of connections to one origin, at least 1; further requests wait in order.
        ///
        /// Defaults to 32.
        ///
        /// Over HTTP/2 one connection carries up to 100 requests instead, or as many as the server accepts. If requests
        /// may use a proxy, an origin that accepts fewer than 100 may get more connections.
        public var maximumConnectionsPerHost = 32
        /// The maximum number of connections kept open for later requests, over all origins.
        ///
        /// Defaults to 1024. With those in use there are at most three quarters as many as the process may open files;
        /// the connection that was not used for the longest time is closed first.
        public var maximumIdleConnections = 1024
        /// How long an idle connection is kept, in whole seconds.
        ///
        /// Defaults to 55 s: many servers close after a minute.
        public var maximumIdleTime = Duration.seconds(55)
        /// Which servers are trusted.
        ///
        /// Defaults to ``CurlLoader/Trust/system``.
        public var trust = Trust.system
        /// The trust evaluation by host; ``trust`` applies to hosts without an evaluator.
        ///
        /// Defaults to nil.
        public var serverTrust: ServerTrust?
        /// The certificate sent to servers that request one.
        ///
        /// Defaults to nil: none.
        public var clientCertificate: ClientCertificate?
        /// The proxy, such as `http://host:3128` or `socks5h://host:1080`; empty for none.
        ///
        /// Defaults to nil: the environment's.
        public var proxy: String?
        /// The addresses to which connections may be made.
        ///
        /// Defaults to all.
        ///
        /// Unless it is ``CurlLoader/DestinationPolicy/any``, the proxy of the environment is not used, and a
        /// ``proxy`` is an error: a proxy resolves names itself, and its connections cannot be checked here.
        public var destinations = DestinationPolicy.any
        /// Whether gzip and deflate are requested and decoded, up to five codings of one body (RFC 9110 §8.4).
        ///
        /// Defaults to true. The body of a request with an `Accept-Encoding` of its own is not decoded; that of
        /// ``/RefrainHTTP/HTTPHeaders/default`` counts as none.
        /// A body that ends before its coding fails with
        /// ``/RefrainHTTP/HTTPError/Code/cannotDecodeContentData`` (rule R10).
        /// Brotli and zstd are not requested, because libcurl does not detect that one of these is truncated.
        public var decompresses = true
        /// The versions of HTTP that are used.
        ///
        /// Defaults to ``CurlLoader/Versions/automatic``.
        public var versions = Versions.automatic
        /// The `User-Agent` of requests without one.
        public var userAgent = "refrain/0.3.0"

        /// Settings of the command line that differ from libcurl's defaults.
        package var overrides = ConnectionOverrides()

        /// The standard configuration.
        public init() {}
    }

    /// Which servers are trusted.
    public enum Trust: Hashable, Sendable {
        /// Servers with a certificate from an authority that the system trusts.
        case system
        /// Only servers with a certificate from an authority in this file (PEM).
        case certificateFile(String)
        /// Servers with any certificate, so that traffic can be intercepted. For tests only.
        case insecure
    }

    /// The versions of HTTP that a loader uses.
    public enum Versions: String, Hashable, Sendable {
        /// HTTP/2 if it is negotiated over TLS, otherwise HTTP/1.1.
        ///
        /// Over HTTP/2 libcurl before 8.1 loses most responses of servers that reset the stream before they have read a
        /// body over 16 KiB, such as a 401 or 413; the request then fails with
        /// ``/RefrainHTTP/HTTPError/Code/networkConnectionLost``. An early response that ends without either a reset or
        /// a `Content-Length` is not detected before the idle timeout. Such bodies are sent over HTTP/2 nevertheless,
        /// because some servers support nothing else. Use ``http1Only`` for uploads if early responses are expected.
        case automatic
        /// HTTP/1.1.
        case http1Only
    }
}

extension CurlLoader.Configuration {
    /// Returns this configuration.
    ///
    /// - Throws: `InvalidArgument`, which names the setting that cannot be used.
    func validated() throws(InvalidArgument) -> Self {
        guard (1...65_536).contains(maximumConnectionsPerHost) else {
            throw InvalidArgument(
                "maximumConnectionsPerHost",
                is: maximumConnectionsPerHost,
                expected: "from 1 to 65536"
            )
        }
        guard (0...1_048_576).contains(maximumIdleConnections) else {
            throw InvalidArgument("maximumIdleConnections", is: maximumIdleConnections, expected: "from 0 to 1048576")
        }
        guard maximumIdleTime >= .zero else {
            throw InvalidArgument("maximumIdleTime", is: maximumIdleTime, expected: "zero or longer")
        }
        guard HTTPToken.isValidFieldValue(userAgent) else {
            throw InvalidArgument("userAgent", is: userAgent, expected: "text without control characters")
        }
        if case .certificateFile(let path) = trust, !Self.isReadable(path) {
            throw InvalidArgument("trust", is: path, expected: Self.readableFile)
        }
        for path in serverTrust?.certificateFiles ?? [] where !Self.isReadable(path) {
            throw InvalidArgument("serverTrust", is: path, expected: Self.readableFile)
        }
        for path in clientCertificate?.files ?? [] where !Self.isReadable(path) {
            throw InvalidArgument("clientCertificate", is: path, expected: Self.readableFile)
        }
        for path in overrides.files where !Self.isReadable(path) {
            throw InvalidArgument("overrides", is: path, expected: Self.readableFile)
        }
        if let proxy, !proxy.isEmpty, !destinations.allowsAll {
            throw InvalidArgument(
                "destinations",
                is: "a policy beside the proxy \(Self.shown(proxy: proxy))",
                expected: "no proxy, which would connect where the policy cannot be held"
            )
        }
        if let proxy, !Self.isUsable(proxy: proxy) {
            throw InvalidArgument(
                "proxy",
                is: Self.shown(proxy: proxy),
                expected: "host:port, or a URL with the scheme http, https, socks4, socks4a, socks5 or socks5h"
            )
        }
        return self
    }

    private static let readableFile = "a regular file of at most 64 MB that can be read"

    /// Whether the TLS library can read a file in a bounded time and amount of memory.
    ///
    /// It reads files to their end, on the thread that serves all requests. A pipe may never have an end, or a writer.
    private static func isReadable(_ path: String) -> Bool {
        var status = stat()
        guard !path.utf8.contains(0), access(path, R_OK) == 0, stat(path, &status) == 0 else { return false }
        return status.st_mode & S_IFMT == S_IFREG && status.st_size <= 64 << 20
    }

    /// A proxy as errors show it, without its user and password.
    private static func shown(proxy: String) -> String {
        guard let at = proxy.utf8.lastIndex(of: UInt8(ascii: "@")) else { return proxy }
        let scheme = proxy.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let start = proxy[scheme.endIndex...].hasPrefix("://") ? scheme + "://" : ""
        return start + "…" + proxy[at...]
    }

    /// Whether libcurl can parse the whole proxy.
    ///
    /// libcurl (7.88) ignores a user or password that it cannot decode, without an error.
    private static func isUsable(proxy: String) -> Bool {
        guard !proxy.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { return false }
        if let separator = proxy.firstRange(of: "://") {
            let scheme = proxy[..<separator.lowerBound].lowercased()
            guard ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].contains(scheme) else { return false }
        }
        // No proxy, also not the environment's.
        guard !proxy.isEmpty, let url = curl_url() else { return true }
        defer { curl_url_cleanup(url) }
        let flags = UInt32(CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME)
        guard curl_url_set(url, CURLUPART_URL, proxy, flags) == CURLUE_OK else { return false }
        return [CURLUPART_HOST, CURLUPART_USER, CURLUPART_PASSWORD]
            .allSatisfy { part in
                var text: UnsafeMutablePointer<CChar>?
                defer { curl_free(text) }
                let code = curl_url_get(url, part, &text, UInt32(CURLU_URLDECODE))
                return code == CURLUE_OK || code == CURLUE_NO_USER || code == CURLUE_NO_PASSWORD
            }
    }
}
