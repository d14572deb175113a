// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// An easy handle of libcurl, which is used for one transfer after the other.
///
/// The options that all transfers share are set once; ``prepare(_:)`` sets the others, if they have changed.
final class EasyHandle {
    let easy: UnsafeMutableRawPointer
    let settings: EasySettings
    /// The TLS options of this handle.
    let trust: TLSOptions
    /// The current transfer, to which the callbacks pass their calls.
    var transfer: Transfer? {
        didSet { served = transfer.map { Unmanaged.passUnretained($0) } }
    }
    /// The current transfer without reference counting, for callbacks per line.
    private(set) var served: Unmanaged<Transfer>?
    /// Whether libcurl is resolving a name although the transfer has ended.
    var isLookingUp = false
    /// Whether the body of the response is decoded.
    private(set) var decodes = false

    /// For how many nanoseconds libcurl may pause a transfer in order to keep to a rate limit.
    let longestPause: Int64

    private let errorText: UnsafeMutablePointer<CChar>
    private let fields = HeaderListBuffer()
    @exclusivity(unchecked) var reader = HeadReader()
    /// The head of a proxy's response to CONNECT.
    var proxyHead = ProxyHead()
    private var inlineBody = UnsafeMutableRawBufferPointer.allocate(byteCount: 0, alignment: 1)
    private var url: String?
    private var parsedURL: OpaquePointer?
    private var usesParsedURL = false
    private var shape = Shape.get
    private var customMethod: String?
    private var list: UnsafeMutablePointer<curl_slist>?
    private var namesAgent = false
    private var isFresh = false
    /// Whether the transfer may use HTTP/2.
    private(set) var expectsHTTP2 = false
    private var wantsHTTP1 = false
    private var looksUpAnew = false
    private var longestAge: Int
    private var hidesProxyFields = false
    private var verboseLogIsOn = false
    /// Receives what is sent and received; nil: nothing does.
    private(set) var wireObserver: (@Sendable (WireEvent) -> Void)?
    private var verboseLogTracksSending = false
    private var connectMilliseconds = 0
    private var watchesEnd = false
    private var bufferSize = EasySettings.bufferSize

    private enum Shape: Equatable { case get, head, inline, upload }

    init?(_ settings: EasySettings, _ trust: TLSOptions, _ iteration: LoopIteration) {
        guard let easy = curl_easy_init() else { return nil }
        self.easy = easy
        self.settings = settings
        self.trust = trust
        longestAge = settings.longestAge
        longestPause = settings.longestPause
        errorText = .allocate(capacity: Int(CURL_ERROR_SIZE))
        errorText.initialize(repeating: 0, count: Int(CURL_ERROR_SIZE))
        settings.apply(to: easy)
        trust.apply(to: easy)
        let user = Unmanaged.passUnretained(self).toOpaque()
        refrain_set_callbacks(easy, receiveHeader, receiveBody, readBody, willSend, openSocket, user)
        refrain_set_debug(easy, receiveVerboseLog, user)
        refrain_set_progress(easy, noteProgress, user)
        refrain_set_lookup(easy, beginLookup, user)
        // The driver retains the iteration, and is deallocated after libcurl has closed all connections.
        refrain_set_close(easy, closeSocket, Unmanaged.passUnretained(iteration).toOpaque())
        refrain_set_pointer(easy, CURLOPT_ERRORBUFFER, errorText)
    }

    /// Frees the handle, which must not be in a multi handle.
    func free() {
        curl_easy_cleanup(easy)
        curl_url_cleanup(parsedURL)
        errorText.deallocate()
        inlineBody.deallocate()
        fields.free()
    }

    /// libcurl's error message, or nil.
    var errorMessage: String? {
        errorText.pointee == 0 ? nil : CurlLoader.Failure.withoutUserinfo(String(cString: errorText))
    }

    /// Prepares the handle for a transfer.
    func prepare(_ transfer: Transfer) throws(HTTPError) {
        let request = transfer.request
        self.transfer = transfer
        errorText.pointee = 0
        reader.begin()
        watchEnd(false)
        if url != transfer.url.text { try setURL(transfer) }
        try transfer.openBody()
        try setMethod(transfer, request.method)
        setFields(transfer)
        setTimes(transfer)
        if isFresh != transfer.sending.needsFreshConnection {
            isFresh = transfer.sending.needsFreshConnection
            refrain_set_long(easy, CURLOPT_FRESH_CONNECT, isFresh ? 1 : 0)
        }
        let wantsHTTP1 = transfer.host?.wantsHTTP1 ?? false
        if self.wantsHTTP1 != wantsHTTP1 {
            self.wantsHTTP1 = wantsHTTP1
            refrain_set_long(easy, CURLOPT_HTTP_VERSION, wantsHTTP1 ? CURL_HTTP_VERSION_1_1 : settings.version)
            if CurlVersion.mixesVersions {
                // Only Schannel implements this option, but connections with and without it are never shared.
                refrain_set_long(easy, CURLOPT_SSL_OPTIONS, wantsHTTP1 ? Int(CURLSSLOPT_REVOKE_BEST_EFFORT) : 0)
            }
        }
        let looksUpAnew = transfer.host?.addressMayBeStale ?? false
        if self.looksUpAnew != looksUpAnew {
            self.looksUpAnew = looksUpAnew
            // 60 s is libcurl's default for caching a resolved name.
            refrain_set_long(easy, CURLOPT_DNS_CACHE_TIMEOUT, looksUpAnew ? 0 : 60)
        }
        let limit = settings.longestAge
        let longestAge = transfer.host?.longestAge(now: transfer.now, limit: limit) ?? limit
        if self.longestAge != longestAge {
            self.longestAge = longestAge
            refrain_set_long(easy, CURLOPT_MAXAGE_CONN, longestAge)
        }
        hideProxyFields(false)
        if settings.mayUseProxy { proxyHead = ProxyHead() }
        let mayBeHTTP2 =
            transfer.url.isTLS && settings.speaksHTTP2 && !wantsHTTP1 && transfer.host?.isMultiplexed != false
        if expectsHTTP2 != mayBeHTTP2 {
            expectsHTTP2 = mayBeHTTP2
            // The first requests to a new origin wait for its connection, and share it if it uses HTTP/2.
            refrain_set_long(easy, CURLOPT_PIPEWAIT, mayBeHTTP2 ? 1 : 0)
        }
        setBuffer(transfer, mayBeHTTP2)
        // Only the verbose log distinguishes a refused stream from a lost connection, and has the server's public key,
        // and the number of a connection to a Unix domain socket.
        wireObserver = request.wireObserver
        setVerboseLog(
            trust.pins != nil || !CurlVersion.announcesRequests || settings.usesUnixSocket || wireObserver != nil
        )
        verboseLogTracksSending = mayBeHTTP2 || CurlVersion.requestSize == .verboseLog
    }

    /// Called before the request is sent: enables the verbose log if a stream may be refused.
    ///
    /// It is not enabled earlier, because libcurl logs most while it connects.
    func beginToSend() {
        if verboseLogTracksSending { setVerboseLog(true) }
        // Later responses of a proxy to CONNECT, for another connection, are not part of this exchange.
        hideProxyFields(true)
    }

    /// Enables the verbose log for the rest of a response: it has the chunks before they are decoded, and says when
    /// libcurl (7.88) drops data that has arrived together with the end.
    func watchFraming() { setVerboseLog(true) }

    /// Makes libcurl use a new connection from here on.
    func requireFreshConnection() {
        isFresh = true
        refrain_set_long(easy, CURLOPT_FRESH_CONNECT, 1)
    }

    /// Sets whether callbacks receive the fields of a proxy's response to CONNECT.
    private func hideProxyFields(_ hides: Bool) {
        guard settings.mayUseProxy, hides != hidesProxyFields else { return }
        hidesProxyFields = hides
        refrain_set_long(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, hides ? 1 : 0)
    }

    private func setVerboseLog(_ isOn: Bool) {
        guard isOn != verboseLogIsOn else { return }
        verboseLogIsOn = isOn
        refrain_set_long(easy, CURLOPT_VERBOSE, isOn ? 1 : 0)
    }

    /// Sets whether the end of TLS is checked, for a body that ends with the connection.
    func watchEnd(_ watches: Bool) {
        guard watches != watchesEnd else { return }
        watchesEnd = watches
        refrain_set_long(easy, CURLOPT_NOPROGRESS, watches ? 0 : 1)
    }

    private func setURL(_ transfer: Transfer) throws(HTTPError) {
        // libcurl discards the previous URL even if it rejects the new one.
        url = nil
        // Without a parsed URL libcurl parses the text for each transfer, and composes it again. When it (7.88) copies
        // a parsed URL, it loses the zone of an IPv6 address, so only URLs with plain hosts are passed parsed.
        let isParsed = transfer.url.namesPlainHost && parse(transfer.url.text)
        if isParsed != usesParsedURL {
            usesParsedURL = isParsed
            // Before the text, which newer versions (8.23) discard at any change of the parsed URL.
            refrain_set_pointer(easy, CURLOPT_CURLU, isParsed ? parsedURL.map { UnsafeRawPointer($0) } : nil)
        }
        guard refrain_set_pointer(easy, CURLOPT_URL, transfer.url.text) == CURLE_OK else {
            throw transfer.failure(.badURL, message: "libcurl does not take the URL")
        }
        url = transfer.url.text
    }

    /// Parses a URL as libcurl does; returns false for an invalid one, whose error libcurl reports later.
    private func parse(_ url: String) -> Bool {
        if parsedURL == nil { parsedURL = curl_url() }
        guard let parsedURL else { return false }
        let flags = CURLU_GUESS_SCHEME | CURLU_NON_SUPPORT_SCHEME | CURLU_PATH_AS_IS
        return curl_url_set(parsedURL, CURLUPART_URL, url, UInt32(flags)) == CURLUE_OK
    }

    private func setMethod(_ transfer: Transfer, _ method: HTTPMethod) throws(HTTPError) {
        let natural: String
        switch transfer.upload.shape {
        case .none where method == .get:
            setShape(.get)
            return setCustomMethod(nil)
        case .none where method == .head:
            setShape(.head)
            natural = "HEAD"
        case .none where method == .post || method == .put || method == .patch:
            // These methods send Content-Length: 0 without a body (RFC 9110 §8.6).
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
        case .streamed(let length):
            setShape(.upload)
            refrain_set_offset(easy, CURLOPT_INFILESIZE_LARGE, length ?? -1)
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
        // HTTPGET resets the options of the other shapes.
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
        let isTLS = transfer.url.isTLS
        let namesAgent = isTLS && settings.mayUseProxy
        if self.namesAgent != namesAgent {
            // As an option it is also sent to a proxy with CONNECT, which is used only for TLS.
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
        // The default field names codings that are not decoded here.
        let leavesCodings = decodes && hasDefaultCodings
        let contentType = hasBody ? transfer.request.body.contentType : nil
        fields.begin(for: headers, extraBytes: settings.fieldBytes + (contentType?.utf8.count ?? 0))
        for field in headers where !leavesCodings || !HTTPHeaders.isSame(field.name, "Accept-Encoding") {
            fields.add(name: field.name, value: field.value)
        }
        let bringsAgent = headers.contains("User-Agent")
        // A range of coded content cannot be decoded.
        let asksForPart = decodes && headers.contains("Range")
        // The fields that all requests share are linked rather than copied.
        let isStandard = decodes == settings.decodes && !bringsAgent && !asksForPart
        if !isStandard {
            let codings = asksForPart ? "identity" : ContentCoding.accepted
            settings.addFields(to: fields, agent: !namesAgent && !bringsAgent, codings: decodes ? codings : nil)
        }
        if hasBody {
            // Prevents that libcurl waits for 100 Continue, or adds a media type.
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
        // libcurl stores the pointer, and reads the list when the request is sent.
        guard new != list else { return }
        list = new
        refrain_set_pointer(easy, CURLOPT_HTTPHEADER, new)
    }

    private func setBuffer(_ transfer: Transfer, _ mayBeHTTP2: Bool) {
        guard settings.adaptsBufferSize else { return }
        let isSmall = !mayBeHTTP2 && transfer.isPlain && transfer.host?.expectsShortAnswers == true
        let size = isSmall ? EasySettings.smallBufferSize : EasySettings.bufferSize
        guard size != bufferSize else { return }
        bufferSize = size
        refrain_set_long(easy, CURLOPT_BUFFERSIZE, size)
    }

    private func setTimes(_ transfer: Transfer) {
        // libcurl treats 0 as its default of 5 minutes.
        let limit = transfer.limitsConnectItself ? Int64.max : transfer.limits.connectTime
        // The transfer must end before libcurl ends the lookup, which continues without it.
        setConnectTime(limit.after(Self.graceOfLookups))
    }

    /// How much later libcurl's own limit is while it resolves a name, in nanoseconds.
    private static let graceOfLookups: Int64 = 200_000_000

    /// Called when the name is resolved.
    func endLookup(_ transfer: Transfer) {
        setConnectTime(transfer.limitsConnectItself ? Int64.max : transfer.limits.connectTime)
    }

    /// Removes the limit of a handle that is resolving a name after its transfer has ended.
    func leaveLookup() { setConnectTime(.max) }

    private func setConnectTime(_ nanoseconds: Int64) {
        let milliseconds = nanoseconds / 1_000_000
        let clamped = Int(min(max(1, milliseconds), Int64(Int32.max)))
        guard clamped != connectMilliseconds else { return }
        connectMilliseconds = clamped
        refrain_set_long(easy, CURLOPT_CONNECTTIMEOUT_MS, clamped)
    }
}

extension EasyHandle {
    /// The key of the connection, and its local port; nil without a connection.
    var connectionKey: (UInt64, Int32)? {
        guard let address = refrain_get_pointer(easy, CURLINFO_PRIMARY_IP) else { return nil }
        if let key = transfer?.keyWithoutPorts { return (key, 0) }
        let port = Int32(truncatingIfNeeded: refrain_get_long(easy, CURLINFO_LOCAL_PORT))
        let key = ConnectionTable.key(
            remoteAddress: address.assumingMemoryBound(to: CChar.self),
            remotePort: Int32(truncatingIfNeeded: refrain_get_long(easy, CURLINFO_PRIMARY_PORT)),
            localPort: port
        )
        return (key, port)
    }

    /// Reads the addresses and times of the exchange so far.
    func connectionReport(isTLS: Bool) -> HTTPResponse.Exchange.Connection {
        func time(_ info: CURLINFO) -> Duration { .microseconds(refrain_get_offset(easy, info)) }
        func text(_ info: CURLINFO) -> String {
            refrain_get_pointer(easy, info).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
        }
        var report = HTTPResponse.Exchange.Connection()
        report.nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
        report.connect = time(CURLINFO_CONNECT_TIME_T)
        report.handshake = isTLS ? time(CURLINFO_APPCONNECT_TIME_T) : nil
        report.preTransfer = time(CURLINFO_PRETRANSFER_TIME_T)
        report.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        report.remoteAddress = text(CURLINFO_PRIMARY_IP)
        report.remotePort = refrain_get_long(easy, CURLINFO_PRIMARY_PORT)
        report.localAddress = text(CURLINFO_LOCAL_IP)
        report.localPort = refrain_get_long(easy, CURLINFO_LOCAL_PORT)
        report.proxyStatus = refrain_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        report.uploadSize = refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T)
        return report
    }
}

/// The handles without a transfer, which are reused for later ones.
struct IdleHandles {
    private var handles: [EasyHandle] = []

    private static let capacity = 256

    /// Removes and returns a handle with these TLS options, which cannot be changed in a handle.
    mutating func take(_ options: TLSOptions) -> EasyHandle? {
        guard let index = handles.lastIndex(where: { $0.trust == options }) else { return nil }
        return handles.remove(at: index)
    }

    /// Adds a handle that was removed from the multi handle.
    mutating func put(_ handle: EasyHandle) {
        handle.transfer = nil
        if handles.count < Self.capacity { handles.append(handle) } else { handle.free() }
    }

    /// Frees all handles.
    mutating func free() {
        for handle in handles { handle.free() }
        handles = []
    }
}
