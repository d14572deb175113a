// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The settings that all transfers of a loader share.
final class EasySettings {
    /// The TLS options for servers without an evaluator of their own.
    private let trust: TLSOptions
    private let serverTrust: ServerTrust?
    private let clientCertificate: CurlLoader.ClientCertificate?
    let proxy: String?
    let destinations: CurlLoader.DestinationPolicy
    private let environmentNamesProxy: Bool
    /// Whether requests may use a proxy over TLS.
    let proxyUsesTLS: Bool
    let speaksHTTP2: Bool
    /// For how many seconds a connection may have been idle to be reused.
    let longestAge: Int
    let userAgent: String
    /// Whether codings are requested and decoded (``ContentDecoder``).
    let decodes: Bool
    private let overrides: CurlLoader.ConnectionOverrides
    private let lists: OverrideLists
    /// The fields of a request without fields of its own, over TCP and over TLS.
    private let plainFields = HeaderListBuffer()
    private let secureFields = HeaderListBuffer()

    init(_ configuration: CurlLoader.Configuration) {
        clientCertificate = configuration.clientCertificate
        trust = TLSOptions(configuration.trust, clientCertificate, configuration.overrides)
        serverTrust = configuration.serverTrust
        destinations = configuration.destinations
        // A policy cannot be enforced on the connections of a proxy.
        proxy = destinations.allowsAll ? configuration.proxy : ""
        let environment = Self.environmentProxies()
        environmentNamesProxy = !environment.isEmpty
        proxyUsesTLS = (proxy.map { [$0] } ?? environment).contains { $0.lowercased().hasPrefix("https:") }
        let idleTime = min(max(configuration.maximumIdleTime, .seconds(1)), .seconds(1 << 30))
        longestAge = Int(clamping: idleTime.components.seconds)
        userAgent = configuration.userAgent
        speaksHTTP2 = configuration.versions == .automatic && refrain_features() & CURL_VERSION_HTTP2 != 0
        decodes = configuration.decompresses
        overrides = configuration.overrides
        lists = OverrideLists(configuration.overrides)
        plainFields.begin(for: [:], extraBytes: fieldBytes)
        addFields(to: plainFields, agent: true, codings: decodes ? ContentCoding.accepted : nil)
        secureFields.begin(for: [:], extraBytes: fieldBytes)
        addFields(to: secureFields, agent: !mayUseProxy, codings: decodes ? ContentCoding.accepted : nil)
    }

    deinit {
        // The handles retain the settings, so none of them reads the fields now.
        plainFields.free()
        secureFields.free()
    }

    /// Whether some requests may use a proxy.
    var mayUseProxy: Bool { proxy.map { !$0.isEmpty } ?? environmentNamesProxy }

    /// Whether connections may be made to another host than the one of the URL.
    var connectsElsewhere: Bool { !overrides.connectTo.isEmpty || usesUnixSocket }

    /// Whether connections are made to a Unix domain socket; their addresses have no ports.
    var usesUnixSocket: Bool { overrides.unixSocket != nil }

    /// The proxies that the environment names.
    private static func environmentProxies() -> [String] {
        // The names that libcurl reads. HTTP_PROXY is not one of them, because the client of a CGI program can set it.
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.compactMap { name in getenv(name).map { String(cString: $0) } }
    }

    /// The maximum size of the fields that the transport adds.
    var fieldBytes: Int { 1024 + userAgent.utf8.count + ContentCoding.accepted.utf8.count }

    /// The fields of a request without fields of its own.
    func standardFields(isTLS: Bool) -> UnsafeMutablePointer<curl_slist>? {
        isTLS ? secureFields.list : plainFields.list
    }

    /// Adds the fields that libcurl would otherwise add.
    ///
    /// libcurl would format each of them twice for every request, one byte at a time.
    func addFields(to fields: HeaderListBuffer, agent: Bool, codings: String?) {
        if omits("Accept") { fields.remove(name: "Accept") }
        if agent, !userAgent.isEmpty, !omits("User-Agent") { fields.add(name: "User-Agent", value: userAgent) }
        if let codings { fields.add(name: "Accept-Encoding", value: codings) }
    }

    /// Whether a field is omitted from all requests.
    func omits(_ name: String) -> Bool { overrides.omittedFields.contains { HTTPHeaders.isSame($0, name) } }

    /// Whether connections may be made to addresses of this family.
    ///
    /// libcurl (7.76) resolves names to allowed families only, but accepts numeric addresses of the others.
    func allowsFamily(of address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let family = overrides.addressFamily else { return true }
        return address.pointee.family != (family == 6 ? AF_INET : AF_INET6)
    }

    /// Sets the options of a new handle that never change.
    func apply(to easy: UnsafeMutableRawPointer) {
        refrain_set_long(easy, CURLOPT_NOSIGNAL, 1)
        refrain_set_long(easy, CURLOPT_NOPROGRESS, 1)
        // A thread that resolves a name continues when its transfer ends; waiting for it would block the loop.
        refrain_leave_lookups(easy)
        refrain_limit_protocols(easy)
        refrain_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // After a 417 libcurl would send the request again, and counts that as a redirect.
        if !CurlVersion.announcesRequests { refrain_set_long(easy, CURLOPT_MAXREDIRS, 0) }
        refrain_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
        refrain_set_long(easy, CURLOPT_NETRC, refrain_netrc_ignored)
        refrain_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        // `ContentDecoder` decodes bodies, because it detects truncated ones.
        refrain_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        refrain_set_long(easy, CURLOPT_BUFFERSIZE, Self.bufferSize)
        refrain_set_long(easy, CURLOPT_TCP_FASTOPEN, 0)
        refrain_bound_tls_reads(easy)
        overrides.apply(to: easy, lists)
        refrain_set_long(easy, CURLOPT_MAXAGE_CONN, longestAge)
        // No h2c: libcurl before version 8 fails when it reuses such a connection.
        refrain_set_long(easy, CURLOPT_HTTP_VERSION, version)
        if let proxy {
            refrain_set_pointer(easy, CURLOPT_PROXY, proxy)
            // Otherwise the environment's no_proxy would exclude hosts from it.
            if overrides.texts[.noproxy] == nil { refrain_set_pointer(easy, CURLOPT_NOPROXY, "") }
        } else if !environmentNamesProxy {
            // Otherwise libcurl would read the environment for every request.
            refrain_set_pointer(easy, CURLOPT_NOPROXY, "*")
        }
    }

    /// The size of the buffer that libcurl allocates for each transfer.
    static let bufferSize = CurlLoader.ConnectionOverrides.standardBufferSize
    /// The size of the buffer for responses that are likely to be short.
    ///
    /// When a large block is freed, glibc merges it with its neighbours and returns memory to the kernel, and the next
    /// transfer has page faults.
    ///
    /// Not used over HTTP/2: libcurl (7.88) delivers as much of a head as fits into the buffer, and the rest only when
    /// something else arrives on the connection, so the transfer would wait for data that has arrived.
    static let smallBufferSize = 4096
    /// Whether the size depends on the responses; false if the configuration sets it.
    var adaptsBufferSize: Bool { overrides.bufferSize == nil }

    /// For how many nanoseconds libcurl may pause a transfer in order to keep to a rate limit.
    var longestPause: Int64 {
        guard let rate = overrides.bytesPerSecond else { return 0 }
        return Int64(overrides.longestBurst) * 1_000_000_000 / Int64(max(1, rate))
    }

    /// The versions of HTTP that are offered, as libcurl's constant.
    var version: Int { speaksHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1 }

    /// Returns the TLS options for the server of a request.
    ///
    /// - Throws: `HTTPError` for a host that must have an evaluator and has none.
    func tlsOptions(for request: HTTPRequest) throws(HTTPError) -> TLSOptions {
        guard let serverTrust, let evaluator = try serverTrust.evaluator(for: request) else { return trust }
        return TLSOptions(evaluator, clientCertificate)
    }
}
