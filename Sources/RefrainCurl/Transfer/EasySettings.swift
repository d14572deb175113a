internal import CurlShim
internal import RefrainHTTP

/// What all transfers of a loader have in common.
final class EasySettings {
    /// What is asked of servers that no evaluator judges.
    private let trust: TrustRule
    private let serverTrust: ServerTrust?
    let proxy: String?
    let speaksHTTP2: Bool
    let idleSeconds: Int
    let userAgent: String
    /// Whether codings are asked for, and undone (``ContentDecoder``).
    let decodes: Bool

    init(_ configuration: CurlLoader.Configuration) {
        trust = TrustRule(configuration.trust)
        serverTrust = configuration.serverTrust
        proxy = configuration.proxy
        idleSeconds = Int(clamping: min(configuration.maximumIdleTime, .seconds(1 << 30)).components.seconds)
        userAgent = configuration.userAgent
        speaksHTTP2 = configuration.versions == .automatic && refrain_features() & CURL_VERSION_HTTP2 != 0
        decodes = configuration.decompresses
    }

    /// Sets what never changes on a new handle.
    func apply(to easy: UnsafeMutableRawPointer) {
        refrain_set_long(easy, CURLOPT_NOSIGNAL, 1)
        refrain_set_long(easy, CURLOPT_NOPROGRESS, 1)
        // A thread that resolves a name is left to itself when its transfer ends; waiting for it would stop the loop.
        refrain_set_long(easy, CURLOPT_QUICK_EXIT, 1)
        refrain_set_pointer(easy, CURLOPT_PROTOCOLS_STR, "http,https")
        refrain_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        refrain_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
        refrain_set_long(easy, CURLOPT_NETRC, Int(CURL_NETRC_IGNORED.rawValue))
        refrain_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1)
        refrain_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        // Codings are undone here, where a body that stops in the middle is noticed.
        refrain_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        // While a reader is slow a stream holds what one buffer expands to: with gzip that is 33 MB at the very most.
        refrain_set_long(easy, CURLOPT_BUFFERSIZE, 32_768)
        refrain_set_long(easy, CURLOPT_TCP_FASTOPEN, 0)
        refrain_set_long(easy, CURLOPT_MAXAGE_CONN, max(1, idleSeconds))
        refrain_set_pointer(easy, CURLOPT_USERAGENT, userAgent)
        // No h2c: libcurl before version 8 breaks when it uses such a connection again.
        let version = speaksHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        refrain_set_long(easy, CURLOPT_HTTP_VERSION, version)
        if let proxy { refrain_set_pointer(easy, CURLOPT_PROXY, proxy) }
    }

    /// What is asked of the server of a request.
    ///
    /// - Throws: `HTTPError` for a host that must have an evaluator, and has none.
    func rule(for request: HTTPRequest) throws(HTTPError) -> TrustRule {
        guard let serverTrust, let evaluator = try serverTrust.evaluator(for: request) else { return trust }
        return TrustRule(evaluator)
    }
}
