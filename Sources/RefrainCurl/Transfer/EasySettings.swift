internal import CurlShim
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// What all transfers of a loader have in common.
final class EasySettings {
    let trust: CurlLoader.Trust
    let proxy: String?
    private let environmentNamesProxy: Bool
    let speaksHTTP2: Bool
    let idleSeconds: Int
    let userAgent: String
    /// The codings that this libcurl can undo, as a value of `Accept-Encoding`; nil where none is wanted.
    let codings: String?
    /// The fields of a request without any of its own, over TCP and over TLS.
    private let plainFields = FieldArena()
    private let secureFields = FieldArena()

    init(_ configuration: CurlLoader.Configuration) {
        trust = configuration.trust
        proxy = configuration.proxy
        environmentNamesProxy = Self.environmentNamesProxy()
        idleSeconds = Int(clamping: min(configuration.maximumIdleTime, .seconds(1 << 30)).components.seconds)
        userAgent = configuration.userAgent
        let features = refrain_features()
        speaksHTTP2 = configuration.versions == .automatic && features & CURL_VERSION_HTTP2 != 0
        let known = [("gzip", CURL_VERSION_LIBZ), ("br", CURL_VERSION_BROTLI), ("zstd", CURL_VERSION_ZSTD)]
        let codings = known.filter { features & $0.1 != 0 }.map(\.0).joined(separator: ", ")
        self.codings = configuration.decompresses && !codings.isEmpty ? codings : nil
        plainFields.begin(for: [:], extraBytes: fieldBytes)
        addFields(to: plainFields, agent: true, codings: true)
        secureFields.begin(for: [:], extraBytes: fieldBytes)
        addFields(to: secureFields, agent: false, codings: true)
    }

    deinit {
        // The handles hold the settings, so none of them reads the fields any more.
        plainFields.free()
        secureFields.free()
    }

    /// Whether the environment says that some requests go by way of a proxy.
    private static func environmentNamesProxy() -> Bool {
        // The names that libcurl knows; HTTP_PROXY is none of them, since a CGI's client could set it.
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.contains { getenv($0) != nil }
    }

    /// The room that the fields take which the transport adds itself.
    var fieldBytes: Int { 1024 + userAgent.utf8.count + (codings?.utf8.count ?? 0) }

    /// The fields of a request without any of its own.
    func standardFields(isTLS: Bool) -> UnsafeMutablePointer<curl_slist>? {
        isTLS ? secureFields.list : plainFields.list
    }

    /// Adds the fields that libcurl would add by itself.
    ///
    /// It would format each of them twice for every request, a byte at a time.
    func addFields(to fields: FieldArena, agent: Bool, codings: Bool) {
        if agent, !userAgent.isEmpty { fields.add(name: "User-Agent", value: userAgent) }
        if codings, let value = self.codings { fields.add(name: "Accept-Encoding", value: value) }
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
        // While a reader is slow libcurl holds what one buffer expands to, and gives up at 64 MB: gzip stays below.
        refrain_set_long(easy, CURLOPT_BUFFERSIZE, 32_768)
        refrain_set_long(easy, CURLOPT_TCP_FASTOPEN, 0)
        refrain_set_long(easy, CURLOPT_MAXAGE_CONN, max(1, idleSeconds))
        // No h2c: libcurl before version 8 breaks when it uses such a connection again.
        let version = speaksHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1
        refrain_set_long(easy, CURLOPT_HTTP_VERSION, version)
        if let proxy {
            refrain_set_pointer(easy, CURLOPT_PROXY, proxy)
        } else if !environmentNamesProxy {
            // libcurl would look through the environment for every request.
            refrain_set_pointer(easy, CURLOPT_NOPROXY, "*")
        }
        switch trust {
        case .system: break
        case .certificateFile(let path):
            refrain_set_pointer(easy, CURLOPT_CAINFO, path)
            refrain_set_pointer(easy, CURLOPT_CAPATH, nil)
        case .insecure:
            refrain_set_long(easy, CURLOPT_SSL_VERIFYPEER, 0)
            refrain_set_long(easy, CURLOPT_SSL_VERIFYHOST, 0)
        }
    }
}
