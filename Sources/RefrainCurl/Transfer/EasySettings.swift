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
    /// What is asked of servers that no evaluator judges.
    private let trust: TLSOptions
    private let serverTrust: ServerTrust?
    private let clientCertificate: CurlLoader.ClientCertificate?
    let proxy: String?
    let destinations: CurlLoader.DestinationPolicy
    private let environmentNamesProxy: Bool
    let speaksHTTP2: Bool
    /// For how many seconds a connection may have been unused to be used again.
    let longestAge: Int
    let userAgent: String
    /// Whether codings are asked for, and undone (``ContentDecoder``).
    let decodes: Bool
    private let overrides: CurlLoader.ConnectionOverrides
    private let lists: OverrideLists
    /// The fields of a request without any of its own, over TCP and over TLS.
    private let plainFields = HeaderListBuffer()
    private let secureFields = HeaderListBuffer()

    init(_ configuration: CurlLoader.Configuration) {
        clientCertificate = configuration.clientCertificate
        trust = TLSOptions(configuration.trust, clientCertificate, configuration.overrides)
        serverTrust = configuration.serverTrust
        destinations = configuration.destinations
        // A proxy would connect where the policy cannot be held.
        proxy = destinations.allowsAll ? configuration.proxy : ""
        environmentNamesProxy = Self.environmentNamesProxy()
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
        // The handles hold the settings, so none of them reads the fields any more.
        plainFields.free()
        secureFields.free()
    }

    /// Whether some requests may go by way of a proxy.
    var mayUseProxy: Bool { proxy.map { !$0.isEmpty } ?? environmentNamesProxy }

    /// Whether the environment says that some requests go by way of a proxy.
    private static func environmentNamesProxy() -> Bool {
        // The names that libcurl knows; HTTP_PROXY is none of them, since a CGI's client could set it.
        let names = ["http_proxy", "https_proxy", "HTTPS_PROXY", "all_proxy", "ALL_PROXY"]
        return names.contains { getenv($0) != nil }
    }

    /// The room that the fields take which the transport adds itself.
    var fieldBytes: Int { 1024 + userAgent.utf8.count + ContentCoding.accepted.utf8.count }

    /// The fields of a request without any of its own.
    func standardFields(isTLS: Bool) -> UnsafeMutablePointer<curl_slist>? {
        isTLS ? secureFields.list : plainFields.list
    }

    /// Adds the fields that libcurl would add by itself.
    ///
    /// It would format each of them twice for every request, a byte at a time.
    func addFields(to fields: HeaderListBuffer, agent: Bool, codings: String?) {
        if omits("Accept") { fields.remove(name: "Accept") }
        if agent, !userAgent.isEmpty, !omits("User-Agent") { fields.add(name: "User-Agent", value: userAgent) }
        if let codings { fields.add(name: "Accept-Encoding", value: codings) }
    }

    /// Whether a field is left out of all requests.
    func omits(_ name: String) -> Bool { overrides.omittedFields.contains { HTTPHeaders.isSame($0, name) } }

    /// Whether connections may be made to addresses of its family: libcurl (7.76) asks no name server for others, but
    /// takes them where they are given as numbers.
    func allowsFamily(of address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let family = overrides.addressFamily else { return true }
        return address.pointee.family != (family == 6 ? AF_INET : AF_INET6)
    }

    /// Sets what never changes on a new handle.
    func apply(to easy: UnsafeMutableRawPointer) {
        refrain_set_long(easy, CURLOPT_NOSIGNAL, 1)
        refrain_set_long(easy, CURLOPT_NOPROGRESS, 1)
        // A thread that resolves a name is left to itself when its transfer ends; waiting for it would stop the loop.
        refrain_leave_lookups(easy)
        refrain_limit_protocols(easy)
        refrain_set_long(easy, CURLOPT_FOLLOWLOCATION, 0)
        // After a 417 it would send again, and counts that as a redirect.
        if !CurlVersion.announcesRequests { refrain_set_long(easy, CURLOPT_MAXREDIRS, 0) }
        refrain_set_long(easy, CURLOPT_HTTP09_ALLOWED, 0)
        refrain_set_long(easy, CURLOPT_NETRC, refrain_netrc_ignored)
        refrain_set_long(easy, CURLOPT_PATH_AS_IS, 1)
        // Codings are undone here, where a body that stops in the middle is noticed.
        refrain_set_long(easy, CURLOPT_HTTP_CONTENT_DECODING, 0)
        refrain_set_long(easy, CURLOPT_BUFFERSIZE, Self.bufferSize)
        refrain_set_long(easy, CURLOPT_TCP_FASTOPEN, 0)
        overrides.apply(to: easy, lists)
        refrain_set_long(easy, CURLOPT_MAXAGE_CONN, longestAge)
        // No h2c: libcurl before version 8 breaks when it uses such a connection again.
        refrain_set_long(easy, CURLOPT_HTTP_VERSION, version)
        if let proxy {
            refrain_set_pointer(easy, CURLOPT_PROXY, proxy)
            // Else the environment's no_proxy would take hosts away from it.
            if overrides.texts[.noproxy] == nil { refrain_set_pointer(easy, CURLOPT_NOPROXY, "") }
        } else if !environmentNamesProxy {
            // libcurl would look through the environment for every request.
            refrain_set_pointer(easy, CURLOPT_NOPROXY, "*")
        }
    }

    /// The size of the buffer that libcurl allocates for each transfer.
    ///
    /// While a reader is slow a stream holds what one buffer expands to: with gzip that is 33 MB at the very most, and
    /// with several codings six times as much.
    static let bufferSize = 32_768
    /// The same for answers that are likely to be short.
    ///
    /// Each time a large block is freed, glibc joins its neighbours and returns memory to the kernel, whose pages are
    /// faulted in again by the next transfer.
    ///
    /// Not over HTTP/2: libcurl (7.88) hands over as much of a head as the buffer takes, and the rest only when
    /// something else arrives on the connection. The transfer would wait for what has come.
    static let smallBufferSize = 4096
    /// Whether the size depends on the answers; false where it was named.
    var takesBufferSize: Bool { overrides.receiveBuffer == nil }

    /// The versions of HTTP that are offered, as libcurl names them.
    var version: Int { speaksHTTP2 ? CURL_HTTP_VERSION_2TLS : CURL_HTTP_VERSION_1_1 }

    /// What is asked of the server of a request.
    ///
    /// - Throws: `HTTPError` for a host that must have an evaluator, and has none.
    func rule(for request: HTTPRequest) throws(HTTPError) -> TLSOptions {
        guard let serverTrust, let evaluator = try serverTrust.evaluator(for: request) else { return trust }
        return TLSOptions(evaluator, clientCertificate)
    }
}
