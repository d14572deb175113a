internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A handle of libcurl's, which serves one transfer after the other.
///
/// What is the same for all transfers is set once; ``prepare(_:)`` sets the rest, and only what has changed.
final class EasyHandle {
    let easy: UnsafeMutableRawPointer
    let settings: EasySettings
    /// What this handle asks of servers.
    let trust: TLSOptions
    /// The transfer that the callbacks of this handle serve.
    var transfer: Transfer? {
        didSet { served = transfer.map { Unmanaged.passUnretained($0) } }
    }
    /// The same, for the callbacks: counted once a transfer, and not for each of its lines.
    private(set) var served: Unmanaged<Transfer>?
    /// Whether libcurl looks for an address although the transfer has ended.
    var isLookingUp = false
    /// Whether the coding of the response is undone.
    private(set) var decodes = false

    private let errorText: UnsafeMutablePointer<CChar>
    private let fields = HeaderListBuffer()
    // As in the driver: no checks.
    @exclusivity(unchecked) var reader = HeadReader()
    /// What a proxy has said to CONNECT.
    var proxyHead = ProxyHead()
    private var inlineBody = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 1)
    @exclusivity(unchecked) private var url: String?
    private var parsedURL: OpaquePointer?
    private var usesParsedURL = false
    @exclusivity(unchecked) private var shape = Shape.get
    @exclusivity(unchecked) private var customMethod: String?
    private var list: UnsafeMutablePointer<curl_slist>?
    private var namesAgent = false
    private var isFresh = false
    /// Whether the transfer may go over HTTP/2.
    private(set) var expectsHTTP2 = false
    private var wantsHTTP1 = false
    private var looksUpAnew = false
    private var longestAge: Int
    private var hidesProxyFields = false
    private var notes = false
    private var notesWhatIsSent = false
    private var connectMilliseconds = 0
    private var watchesEnd = false
    private var bufferSize = EasySettings.bufferSize

    /// Whether it asks for a head without its body.
    var isHead: Bool { shape == .head }

    private enum Shape: Equatable { case get, head, inline, upload }

    /// Bodies up to this size go out along with the head.
    static let inlineLimit = 16_384

    init?(_ settings: EasySettings, _ trust: TLSOptions) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.settings = settings
        self.trust = trust
        longestAge = settings.longestAge
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        settings.apply(to: easy)
        trust.apply(to: easy)
        let user = Unmanaged.passUnretained(self).toOpaque()
        refrain_set_callbacks(easy, receiveHeader, receiveBody, readBody, willSend, openSocket, user)
        refrain_set_debug(easy, receiveNote, user)
        refrain_set_progress(easy, noteProgress, user)
        refrain_set_lookup(easy, beginLookup, user)
        refrain_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    }

    /// Gives the handle back; only when no multi handle holds it.
    func free() {
        curl_easy_cleanup(easy)
        curl_url_cleanup(parsedURL)
        errorText.deallocate()
        inlineBody.deallocate()
        fields.free()
    }

    /// libcurl's words for what went wrong, if it left any.
    var errorMessage: String? {
        errorText.pointee == 0 ? nil : CurlLoader.Failure.withoutUserinfo(String(cString: errorText))
    }

    /// Sets the handle up for a transfer.
    func prepare(_ transfer: Transfer) throws(HTTPError) {
        let request = transfer.request
        self.transfer = transfer
        errorText.pointee = 0
        reader.begin()
        watchEnd(false)
        if url != transfer.url { try setURL(transfer) }
        if !transfer.isBodyless { transfer.upload = try UploadSource(transfer) }
        try setMethod(transfer, request.method)
        setFields(transfer)
        setTimes(transfer)
        if isFresh != transfer.needsFreshConnection {
            isFresh = transfer.needsFreshConnection
            refrain_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        }
        let wantsHTTP1 = transfer.host?.wantsHTTP1 ?? false
        if self.wantsHTTP1 != wantsHTTP1 {
            self.wantsHTTP1 = wantsHTTP1
            refrain_set_long(easy, CURLOPT_HTTP_VERSION, wantsHTTP1 ? CURL_HTTP_VERSION_1_1 : settings.version)
            if CurlVersion.mixesVersions {
                // Only Schannel does anything about this option, but connections with and without it are never mixed.
                refrain_set_long(easy, CURLOPT_SSL_OPTIONS, wantsHTTP1 ? Int(CURLSSLOPT_REVOKE_BEST_EFFORT) : 0)
            }
        }
        let looksUpAnew = transfer.host?.addressMayBeStale ?? false
        if self.looksUpAnew != looksUpAnew {
            self.looksUpAnew = looksUpAnew
            // 60 s is what libcurl keeps an answer of the name server for by itself.
            refrain_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, looksUpAnew ? 0 : 60)
        }
        let limit = settings.longestAge
        let longestAge = transfer.host?.longestAge(now: transfer.round.now, limit: limit) ?? limit
        if self.longestAge != longestAge {
            self.longestAge = longestAge
            refrain_set_long(easy, CURLOPT_MAXAGE_CONN, longestAge)
        }
        hideProxyFields(false)
        if settings.mayUseProxy { proxyHead = ProxyHead() }
        let mayBeHTTP2 =
            transfer.isTLS && settings.speaksHTTP2 && !wantsHTTP1 && transfer.host?.isMultiplexed != false
        if expectsHTTP2 != mayBeHTTP2 {
            expectsHTTP2 = mayBeHTTP2
            // The first requests to a new origin wait for its connection, and share it if it speaks HTTP/2.
            refrain_set_long(easy, CURLOPT_PIPEWAIT, mayBeHTTP2 ? 1 : 0)
        }
        setBuffer(transfer, mayBeHTTP2)
        // Only libcurl's notes tell a refused stream from a connection that has died, and which key a server has shown.
        takeNotes(trust.pins != nil || !CurlVersion.announcesRequests)
        notesWhatIsSent = mayBeHTTP2 || CurlVersion.requestSize == .notes
    }

    /// Takes libcurl's notes from here on, where a stream may be refused; those before cost libcurl more than the rest.
    func beginToSend() {
        if notesWhatIsSent { takeNotes(true) }
        // A proxy that is asked again from here on, for another connection, does not answer the request.
        hideProxyFields(true)
    }

    /// Makes libcurl take a new connection from here on, which it cannot do unasked.
    func requireFreshConnection() {
        isFresh = true
        refrain_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
    }

    /// The key of the connection, and its local port; nil while there is none.
    var connectionKey: (UInt64, Int32)? {
        guard let address = refrain_get_pointer(easy, CURLINFO_PRIMARY_IP) else { return nil }
        let port = Int32(truncatingIfNeeded: refrain_get_long(easy, CURLINFO_LOCAL_PORT))
        let key = ConnectionTable.key(
            remoteAddress: address.assumingMemoryBound(to: CChar.self),
            remotePort: Int32(truncatingIfNeeded: refrain_get_long(easy, CURLINFO_PRIMARY_PORT)),
            localPort: port
        )
        return (key, port)
    }

    /// Keeps the fields of a proxy's answer to CONNECT from the callbacks, or hands them over.
    private func hideProxyFields(_ hides: Bool) {
        guard settings.mayUseProxy, hides != hidesProxyFields else { return }
        hidesProxyFields = hides
        refrain_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, hides ? 1 : 0)
    }

    private func takeNotes(_ takes: Bool) {
        guard takes != notes else { return }
        notes = takes
        refrain_set_long(easy, CURLOPT_VERBOSE, takes ? 1 : 0)
    }

    /// Keeps an eye on whether TLS is ended as it should be, for a body that ends with the connection.
    func watchEnd(_ watches: Bool) {
        guard watches != watchesEnd else { return }
        watchesEnd = watches
        refrain_set_long(easy, CURLOPT_NOPROGRESS, watches ? 0 : 1)
    }

    private func setURL(_ transfer: Transfer) throws(HTTPError) {
        // libcurl forgets the one that it has before it refuses another.
        url = nil
        // Where it gets no parsed URL, libcurl parses the text for each transfer, and puts it together again. It (7.88)
        // loses the zone of an IPv6 address where it copies a parsed URL, so only plain ones are handed over.
        let isParsed = transfer.namesPlainHost && parse(transfer.url)
        if isParsed != usesParsedURL {
            usesParsedURL = isParsed
            // Before the text, which newer versions (8.23) forget with any change of the parsed URL.
            refrain_set_pointer(easy, CURLOPT_CURLU, isParsed ? parsedURL.map { UnsafeRawPointer($0) } : nil)
        }
        guard refrain_set_pointer(easy, CURLOPT_URL, transfer.url) == CURLE_OK else {
            throw transfer.failure(.badURL, message: "libcurl does not take the URL")
        }
        url = transfer.url
    }

    /// Parses a URL as libcurl would; false where it has something to say against it, which is left to it.
    private func parse(_ url: String) -> Bool {
        if parsedURL == nil { parsedURL = curl_url() }
        guard let parsedURL else { return false }
        let flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS
        return curl_url_set(parsedURL, CURLUPART_URL, url, UInt32(flags)) == CURLUE_OK
    }

    private func setMethod(_ transfer: Transfer, _ method: HTTPMethod) throws(HTTPError) {
        let natural: String
        switch transfer.upload {
        case .none where method == .get:
            setShape(.get)
            return setCustomMethod(nil)
        case .none where method == .head:
            setShape(.head)
            natural = "HEAD"
        case .none where method == .post || method == .put || method == .patch:
            // These announce that there is nothing, with Content-Length: 0 (RFC 9110 §8.6).
            setInline(Data())
            natural = "POST"
        case .none:
            setShape(.get)
            natural = "GET"
        case _ where method == .head:
            throw transfer.failure(.invalidRequest, message: "a HEAD request cannot have a body")
        case .inline(let bytes):
            setInline(bytes)
            natural = "POST"
        case .memory, .file, .stream:
            setShape(.upload)
            refrain_set_offset(easy, CURLOPT_INFILESIZE_LARGE, transfer.upload.length ?? -1)
            natural = "PUT"
        }
        setCustomMethod(natural == method.rawValue ? nil : method.rawValue)
    }

    private func setCustomMethod(_ custom: String?) {
        guard custom != customMethod else { return }
        customMethod = custom
        if let custom {
            refrain_set_pointer(easy, CURLOPT_CUSTOMREQUEST, custom)
        } else {
            refrain_set_pointer(easy, CURLOPT_CUSTOMREQUEST, nil)
        }
    }

    private func setShape(_ new: Shape) {
        guard new != shape else { return }
        // HTTPGET takes back what the others have set.
        refrain_set_long(easy, CURLOPT_HTTPGET, 1)
        shape = new
        switch new {
        case .get: break
        case .head: refrain_set_long(easy, CURLOPT_NOBODY, 1)
        case .inline: refrain_set_long(easy, CURLOPT_POST, 1)
        case .upload: refrain_set_long(easy, CURLOPT_UPLOAD, 1)
        }
    }

    private func setInline(_ bytes: Data) {
        setShape(.inline)
        if inlineBody.count < max(1, bytes.count) {
            inlineBody.deallocate()
            inlineBody = .allocate(byteCount: max(1024, bytes.count), alignment: 1)
        }
        inlineBody.copyBytes(from: bytes)
        refrain_set_offset(easy, CURLOPT_POSTFIELDSIZE_LARGE, Int64(bytes.count))
        refrain_set_pointer(easy, CURLOPT_POSTFIELDS, inlineBody.baseAddress)
    }

    private func setFields(_ transfer: Transfer) {
        let headers = transfer.request.headers
        let isTLS = transfer.isTLS
        let namesAgent = isTLS && settings.mayUseProxy
        if self.namesAgent != namesAgent {
            // A proxy is told too when it makes a tunnel, which it does only for TLS.
            self.namesAgent = namesAgent
            if namesAgent, !settings.userAgent.isEmpty, !settings.omits("User-Agent") {
                refrain_set_pointer(easy, CURLOPT_USERAGENT, settings.userAgent)
            } else {
                refrain_set_pointer(easy, CURLOPT_USERAGENT, nil)
            }
        }
        let hasBody = shape == .inline || shape == .upload
        guard hasBody || !headers.isEmpty else {
            decodes = settings.decodes
            return setList(settings.standardFields(isTLS: isTLS))
        }
        let hasDefaultCodings = headers.hasDefaultCodings
        decodes = settings.decodes && (hasDefaultCodings || !headers.contains("Accept-Encoding"))
        // It names codings that are not undone here.
        let leavesCodings = decodes && hasDefaultCodings
        let contentType = hasBody ? transfer.request.body.contentType : nil
        fields.begin(for: headers, extraBytes: settings.fieldBytes + (contentType?.utf8.count ?? 0))
        for field in headers where !leavesCodings || !HTTPHeaders.isSame(field.name, "Accept-Encoding") {
            fields.add(name: field.name, value: field.value)
        }
        let bringsAgent = headers.contains("User-Agent")
        // Of a coding, a part of the content cannot be undone.
        let asksForPart = decodes && headers.contains("Range")
        // Those that all requests share are not written anew.
        let isStandard = decodes == settings.decodes && !bringsAgent && !asksForPart
        if !isStandard {
            let codings = asksForPart ? "identity" : ContentCoding.accepted
            settings.addFields(to: fields, agent: !namesAgent && !bringsAgent, codings: decodes ? codings : nil)
        }
        if hasBody {
            // Does not wait for 100 Continue, and adds no media type.
            if !headers.contains("Expect") { fields.remove(name: "Expect") }
            if !headers.contains("Content-Type") {
                if let contentType, !settings.omits("Content-Type") {
                    fields.add(name: "Content-Type", value: contentType)
                } else {
                    fields.remove(name: "Content-Type")
                }
            }
        }
        if isStandard { fields.link(settings.standardFields(isTLS: isTLS)) }
        setList(fields.list)
    }

    private func setList(_ new: UnsafeMutablePointer<curl_slist>?) {
        // libcurl keeps the pointer, and reads what it points to when the request is sent.
        guard new != list else { return }
        list = new
        refrain_set_pointer(easy, CURLOPT_HTTPHEADER, new)
    }

    private func setBuffer(_ transfer: Transfer, _ mayBeHTTP2: Bool) {
        guard settings.takesBufferSize else { return }
        let isSmall = !mayBeHTTP2 && transfer.isPlain && transfer.host?.expectsShortAnswers == true
        let size = isSmall ? EasySettings.smallBufferSize : EasySettings.bufferSize
        guard size != bufferSize else { return }
        bufferSize = size
        refrain_set_long(easy, CURLOPT_BUFFERSIZE, size)
    }

    private func setTimes(_ transfer: Transfer) {
        // libcurl takes 0 for its own default of 5 minutes.
        let limit = transfer.limitsConnectItself ? Int64.max : transfer.limits.connect
        // The transfer is to end before libcurl ends the lookup, which goes on without it.
        setConnectTime(limit.after(Self.graceOfLookups))
    }

    /// How much later libcurl's own limit is while it looks for the address of a name.
    private static let graceOfLookups: Int64 = 200_000_000

    /// The address is known.
    func endLookup(_ transfer: Transfer) {
        setConnectTime(transfer.limitsConnectItself ? Int64.max : transfer.limits.connect)
    }

    /// Leaves a handle that looks for an address without a limit, since its transfer has ended.
    func leaveLookup() { setConnectTime(.max) }

    private func setConnectTime(_ nanoseconds: Int64) {
        let milliseconds = nanoseconds / 1_000_000
        let clamped = Int(min(max(1, milliseconds), Int64(Int32.max)))
        guard clamped != connectMilliseconds else { return }
        connectMilliseconds = clamped
        refrain_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, clamped)
    }
}
