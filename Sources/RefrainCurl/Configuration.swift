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
    /// How a loader connects, and what it adds to requests.
    public struct Configuration: Sendable {
        /// How many connections to one origin there may be at a time, at least 1; requests beyond wait in order.
        ///
        /// Over HTTP/2 one connection carries up to 100 requests instead, or as many as the server takes. Where
        /// requests may go by way of a proxy, an origin that takes fewer than 100 may get more connections than these.
        public var maximumConnectionsPerHost = 32
        /// How many connections are kept open for later requests, all origins together.
        public var maximumIdleConnections = 64
        /// How long an unused connection is kept, in whole seconds; below the minute after which many servers close.
        public var maximumIdleTime = Duration.seconds(55)
        /// Which servers are trusted.
        public var trust = Trust.system
        /// Which servers are trusted, host by host; ``trust`` holds for those that it leaves open.
        public var serverTrust: ServerTrust?
        /// The certificate that is shown to servers that ask for one; nil for none.
        public var clientCertificate: ClientCertificate?
        /// The proxy, such as `http://host:3128` or `socks5h://host:1080`; empty for none, nil for the environment's.
        public var proxy: String?
        /// Which addresses connections are made to; defaults to all.
        ///
        /// Where it is not ``CurlLoader/DestinationPolicy/any``, the proxy of the environment is not used, and a
        /// ``proxy`` is refused: a proxy resolves names itself, and its connections cannot be checked here.
        public var destinations = DestinationPolicy.any
        /// Whether gzip and deflate are asked for and undone, up to five of them over one another (RFC 9110 §8.4).
        ///
        /// Requests with an `Accept-Encoding` of their own get what they ask for, as it comes; that of
        /// ``/RefrainHTTP/HTTPHeaders/default`` counts as none.
        /// A body that ends before its coding does fails with
        /// ``/RefrainHTTP/HTTPError/Code/cannotDecodeContentData`` (rule R10).
        /// Brotli and zstd are not asked for, since libcurl does not notice when one of these stops in the middle.
        public var decompresses = true
        /// Which versions of HTTP are spoken.
        public var versions = Versions.automatic
        /// The `User-Agent` of requests that have none.
        public var userAgent = "refrain/0.2.0"

        /// Whether glibc keeps up to 64 MB of freed memory for later bodies over 128 KiB.
        ///
        /// It makes bodies of megabytes faster and changes the allocator of the whole process, unless the process has
        /// limits of its own (`mallopt`, `GLIBC_TUNABLES`). Defaults to false. No effect on other C libraries.
        public var keepsFreedMemory = false

        /// What differs from the way in which libcurl connects by itself.
        package var overrides = ConnectionOverrides()

        /// The standard configuration.
        public init() {}
    }

    /// Which servers are trusted.
    public enum Trust: Hashable, Sendable {
        /// Those with a certificate from an authority that the system knows.
        case system
        /// Those with a certificate from an authority in this file (PEM), and no others.
        case certificateFile(String)
        /// All certificates are accepted, so that traffic can be intercepted. For tests only.
        case insecure
    }

    /// Which versions of HTTP are spoken.
    public enum Versions: String, Hashable, Sendable {
        /// HTTP/2 where TLS agrees on it, else HTTP/1.1.
        ///
        /// Over HTTP/2 libcurl before 8.1 loses most answers of servers that do not wait for the end of a body over
        /// 16 KiB and reset its stream at once, such as a 401 or 413; the request then fails with
        /// ``/RefrainHTTP/HTTPError/Code/networkConnectionLost``. An early answer that ends without either a reset
        /// or a `Content-Length` is not noticed before the idle limit. Such bodies go over HTTP/2 all the same, since
        /// some servers speak nothing else. Use ``http1Only`` for uploads where early answers are to be expected.
        case automatic
        /// HTTP/1.1.
        case http1Only
    }
}

extension CurlLoader.Configuration {
    /// This configuration, if it can be used.
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
        if case .certificateFile(let path) = trust, path.utf8.contains(0) || access(path, R_OK) != 0 {
            throw InvalidArgument("trust", is: path, expected: "a file that can be read")
        }
        for path in serverTrust?.certificateFiles ?? [] where path.utf8.contains(0) || access(path, R_OK) != 0 {
            throw InvalidArgument("serverTrust", is: path, expected: "a file that can be read")
        }
        for path in clientCertificate?.files ?? [] where path.utf8.contains(0) || access(path, R_OK) != 0 {
            throw InvalidArgument("clientCertificate", is: path, expected: "a file that can be read")
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

    /// A proxy as errors show it: that there are a user and a password, and not which.
    private static func shown(proxy: String) -> String {
        guard let at = proxy.utf8.lastIndex(of: UInt8(ascii: "@")) else { return proxy }
        let scheme = proxy.prefix { $0.isASCII && ($0.isLetter || $0.isNumber) }
        let start = proxy[scheme.endIndex...].hasPrefix("://") ? scheme + "://" : ""
        return start + "…" + proxy[at...]
    }

    /// Whether libcurl takes it for a proxy, and can read all of it.
    ///
    /// One whose user or password it cannot decode it (7.88) would leave out without a word.
    private static func isUsable(proxy: String) -> Bool {
        guard !proxy.utf8.contains(where: { $0 <= 0x20 || $0 == 0x7F }) else { return false }
        if let separator = proxy.firstRange(of: "://") {
            let scheme = proxy[..<separator.lowerBound].lowercased()
            guard ["http", "https", "socks4", "socks4a", "socks5", "socks5h"].contains(scheme) else { return false }
        }
        // None at all, whatever the environment says.
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
