internal import CurlShim
internal import RefrainCore
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// One request on its way through a loop, and what has become of it so far.
final class Transfer: @unchecked Sendable {
    // @unchecked Sendable: confined to the task that made it until it is submitted, and to the owner of the loop
    // afterwards, except `wasCancelled` and `wasSubmitted`, which are accessed with the command queue locked, and
    // `result`, which is the task's again once it was resumed.
    let request: HTTPRequest
    let limits: Limits
    let url: String
    let isTLS: Bool
    /// Whether the request can be sent without waiting, and its body and response are in memory.
    let isPlain: Bool
    /// Whether the response is handed over before its body is complete.
    let streams: Bool
    /// Whether the request surely has no body.
    let isBodyless: Bool
    /// Whether the URL names its host by a name or a number in ASCII, and nothing else beside the port.
    let namesPlainHost: Bool
    /// Where the part of the URL ends that says where the request goes.
    let hostEnd: Int

    // With the inbox locked.
    var wasCancelled = false
    var wasSubmitted = false

    // Set once before the loop sees the transfer.
    @exclusivity(unchecked) var completion = Completion.none
    /// The loop that it is submitted to, for the task that waits for it.
    @exclusivity(unchecked) var loop: EventLoop?
    /// From the end of the transfer, or of its head where the body is streamed, until the receiver takes it.
    @exclusivity(unchecked) var result: HTTPResult?
    var submittedAt = MonotonicTime.never
    /// The destination of a streamed body, as soon as its response was handed over.
    @exclusivity(unchecked) var pipe: ByteChannel?
    /// The loader, which must live as long as a body that is read as it arrives.
    @exclusivity(unchecked) var owner: CurlLoader?

    // From here on only for the owner of the loop. No access leads to another one, so properties that are used for
    // every request have no exclusivity checks.
    @exclusivity(unchecked) var host: OriginQueue?
    @exclusivity(unchecked) var slot: EasyHandle?
    var index = 0
    var isFinished = false
    var isWaiting = false
    @exclusivity(unchecked) private(set) var round = LoopIteration.none

    // Guard 2: what was sent, and what libcurl must not send again.
    @exclusivity(unchecked) var sends = 0
    var sizeBefore: Int64 = 0
    /// What was sent by libcurl's notes, where it does not count it.
    var notedSize: Int64 = 0
    var resendWasRefused = false
    @exclusivity(unchecked) var stream = HTTP2StreamLog()
    /// The connection that the request is sent on, where it is known.
    @exclusivity(unchecked) var connection: OpenConnection?
    /// Whether it was stopped before anything was sent, because of its connection.
    var needsOtherConnection = false
    /// Whether it must not be sent on a connection that has served others.
    var needsFreshConnection: Bool
    /// The sockets that were opened to send the request, in order.
    @exclusivity(unchecked) var opened = OpenedSockets()
    /// Whether libcurl looks for the address of a name.
    var isLookingUp = false
    /// Whether an address was left out because a connection to it failed before, or by the policy on destinations.
    var (hasLeftOutAddress, policyRefused) = (false, false)
    /// Whether the addresses that were left out are tried, as the last ones.
    var triesAllAddresses = false

    // The response.
    @exclusivity(unchecked) var head = ReceivedHead()
    /// What is known of the exchange since the head was complete.
    @exclusivity(unchecked) var exchange = HTTPResponse.Exchange()
    @exclusivity(unchecked) var body = Data()
    @exclusivity(unchecked) var bodySize = 0
    /// How much of the body has arrived, before any coding of it was undone.
    @exclusivity(unchecked) var wireSize: Int64 = 0
    /// Whether the whole response is there although the server has not taken all of the request.
    var isAnsweredEarly = false
    /// Whether the server may take what comes next on the connection for the rest of this request.
    var spoilsConnection = false
    @exclusivity(unchecked) var decoder: ContentDecoder?
    let bodyLimit: Int
    /// Whether the body ends with the connection, over TLS that was not ended as yet.
    var endOfTLSIsMissing = false
    /// Why a callback stopped the transfer.
    @exclusivity(unchecked) var stopReason: HTTPError?
    var isReceivePaused = false
    var isSendPaused = false
    var isDraining = false
    /// When the response is handed over although its body is not complete; never for most.
    @exclusivity(unchecked) var handOverLimit = MonotonicTime.never

    // The request's body.
    @exclusivity(unchecked) var upload = UploadSource.none
    /// The bytes of it that libcurl has taken.
    var bodyTaken: Int64 = 0

    @exclusivity(unchecked) var rare: RareState?

    // Times.
    private var connectLimit = MonotonicTime.never
    private var totalLimit = MonotonicTime.never
    private var firstByteLimit = MonotonicTime.never
    @exclusivity(unchecked) private(set) var lastActivity = MonotonicTime.never

    /// - Parameter endOfOrigin: what validating the request has returned.
    init(_ request: HTTPRequest, endOfOrigin: Int? = nil) {
        self.request = request
        limits = Limits.of(request.attemptLimits)
        url = endOfOrigin == nil ? URLText.sent(request.url) : request.url.absoluteString
        namesPlainHost = endOfOrigin != nil
        (isTLS, hostEnd) = url.withUTF8Bytes {
            ($0.count > 4 && $0[4] | 0x20 == UInt8(ascii: "s"), endOfOrigin ?? Self.hostEnd(in: $0))
        }
        needsFreshConnection = request.needsFreshConnection
        streams = request.streamsResponse
        let bodySize = request.bodySizeInMemory ?? .max
        isPlain = !request.streamsResponse && !request.needsFreshConnection && bodySize <= EasyHandle.inlineLimit
        isBodyless = bodySize == 0
        // A stream has no default limit; that limit is for collected bodies.
        let standardLimit = request.streamsResponse ? Int.max : HTTPRequest.defaultMaximumBodySize
        bodyLimit = max(0, request.maximumBodySize ?? standardLimit)
    }

    // MARK: Times

    func begin(_ round: LoopIteration) {
        self.round = round
        totalLimit = submittedAt.after(limits.total)
        firstByteLimit = submittedAt.after(limits.firstByte)
    }

    func start() {
        // libcurl keeps to this limit, but not while a transfer waits for another one's connection. A second start
        // does not begin it anew.
        guard connectLimit == .never else { return }
        connectLimit = round.now.after(limits.connect).after(Self.graceOfLibcurl)
    }

    /// Whether only the limit here ends an attempt to connect: libcurl's would end a request that waits for a stream.
    ///
    /// libcurl does not divide the time among several addresses then, so a silent one may take all of it.
    var limitsConnectItself: Bool { CurlVersion.countsWaitAsConnecting && host?.isMultiplexed == true }

    /// Notes that it begins to connect, after it may have waited for others.
    func noteConnecting() {
        guard limitsConnectItself, opened.isEmpty else { return }
        connectLimit = round.now.after(limits.connect).after(Self.graceOfLibcurl)
        round.nextLimit = min(round.nextLimit, connectLimit)
    }

    /// How much later than libcurl's own a limit is.
    private static let graceOfLibcurl: Int64 = 50_000_000

    /// How long libcurl goes on trying to connect, in nanoseconds; `never` without a limit.
    var timeToConnect: Int64 {
        connectLimit == .never ? .never : max(0, connectLimit &- round.now &- Self.graceOfLibcurl)
    }

    /// Notes that a byte went in either direction.
    func noteActivity() {
        lastActivity = round.now
        round.hadActivity = true
    }

    /// The moment at which the transfer has run out of time, as it looks now.
    var limit: MonotonicTime {
        var limit = min(totalLimit, head.hasBegun ? .never : firstByteLimit, drainLimit)
        if sends == 0, !waitsForOthers { limit = min(limit, connectLimit) }
        if sends > 0, !isReceivePaused, !isSendPaused || isAnswering {
            limit = min(limit, lastActivity.after(limits.idle))
        }
        if isAnsweredEarly, !isReceivePaused, !awaitsBodyAfterAnswer {
            limit = min(limit, lastActivity.after(Self.graceOfAnsweredRequests))
        }
        return limit
    }

    /// Whether it waits, rather than for a connection of its own, until others leave it a stream, or their connection.
    ///
    /// To connect libcurl keeps to the limit itself, from the moment on at which it begins to.
    private var waitsForOthers: Bool {
        guard let host else { return false }
        return host.sent > 0 && opened.isEmpty
    }

    /// Whether the server has begun to answer over HTTP/2 what is collected: the source of the request's body is not
    /// all that is waited for, and libcurl (7.88) would not see the end of the answer while it waits for that.
    private var isAnswering: Bool { head.isComplete && head.version == .http2 && pipe == nil }

    /// The moment at which to look again, however the transfer goes on.
    var nextCheck: MonotonicTime {
        if handOverLimit != .never { return min(limit, handOverLimit) }
        if sends == 0, opened.nextLook != .never { return min(limit, opened.nextLook) }
        if isSendPaused { return min(limit, round.now.after(Self.timeBetweenLooks)) }
        let rests = sends == 0 || isReceivePaused
        return rests ? min(limit, round.now.after(limits.idle)) : limit
    }

    var whatTookTooLong: String {
        let now = round.now
        if totalLimit <= now { return "the attempt took longer than its total time" }
        if !head.hasBegun, firstByteLimit <= now { return "the first byte of the response did not come in time" }
        if sends == 0, !waitsForOthers, connectLimit <= now { return "no connection was made in time" }
        if drainLimit <= now { return "the body was dropped unread" }
        return "nothing was sent or received for too long"
    }

    // MARK: Guard 2

    /// The bytes of the request that can have left.
    var bytesSent: Int64? {
        guard sends > 0, let easy = slot?.easy else { return 0 }
        let requestSize = Int64(refrain_get_long(easy, CURLINFO_REQUEST_SIZE)) - sizeBefore
        switch CurlVersion.requestSize {
        case .head: break
        case .notes, .whole:
            let sent = max(CurlVersion.requestSize == .notes ? notedSize : requestSize, sentAtRefusal)
            return sent == 0 && mayBeMultiplexed ? nil : sent
        }
        let headSize = refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T)
        // libcurl counts a small body twice over HTTP/1, since it sends it along with the head.
        let sum =
            upload.isInline && head.version != .http2
            ? max(requestSize, headSize) : requestSize.addingReportingOverflow(headSize).partialValue
        // libcurl forgets what it has sent of a body when it would like to send it again.
        let forgotten = headSize == 0 && requestSize > 0 && !upload.isInline ? bodyTaken : 0
        let sent = max(sum.addingReportingOverflow(forgotten).partialValue, sentAtRefusal)
        // A frame can have left although libcurl counts nothing, when the frame after it failed.
        return sent == 0 && mayBeMultiplexed ? nil : sent
    }

    /// Whether the request may go over HTTP/2.
    var mayBeMultiplexed: Bool {
        isTLS && slot?.settings.speaksHTTP2 == true && host?.isMultiplexed != false && host?.wantsHTTP1 != true
    }

    var isMultiplexed: Bool? { isTLS && head.hasBegun ? head.version == .http2 : nil }

    /// Whether the server said that it did not process the request.
    var streamWasRefused: Bool { stream.wasRefused(lastProcessed: connection?.lastProcessed) }

    /// libcurl is about to send the request on the connection with this key; false where it must not.
    func willSend(on key: UInt64, localPort: Int32) -> Bool {
        guard let easy = slot?.easy else { return false }
        isLookingUp = false
        if sends == 0 {
            notedSize = 0
            sizeBefore = Int64(refrain_get_long(easy, CURLINFO_REQUEST_SIZE))
        } else if mayResend() {
            stream = HTTP2StreamLog()
        } else {
            return false
        }
        let isNew = refrain_get_long(easy, CURLINFO_NUM_CONNECTS) > 0
        if isNew {
            connection = newConnection(key, localPort: localPort)
        } else if CurlVersion.announcesRequests {
            connection = round.connections[key]
        }
        // The last moment to look: libcurl sends next. Nothing has left as yet.
        if CurlVersion.announcesRequests, !isNew, sends == 0, connection?.isSpoiled == true {
            needsOtherConnection = true
            return false
        }
        if sends == 0 { host?.sent += 1 }
        sends += 1
        noteActivity()
        slot?.beginToSend()
        return true
    }

    /// Whether the transfer is to be sent on another connection, since nothing has left on this one.
    func mustStartOver(after result: CURLcode) -> Bool {
        if needsOtherConnection { return true }
        if result == CURLE_COULDNT_CONNECT, sends == 0, hasLeftOutAddress, !triesAllAddresses {
            noteFailedAddresses(timedOut: false)
            triesAllAddresses = true
            return true
        }
        // libcurl says so before it sends, of a body of unknown length for a server that spoke HTTP/1.0. It does not
        // say so on a new connection.
        return result == CURLE_UPLOAD_FAILED && !needsFreshConnection && bodyTaken == 0
    }

    /// Prepares to be sent on another connection, where nothing has left on this one.
    func startOver() {
        upload.close()
        upload = .none
        slot = nil
        sends = 0
        connection = nil
        needsOtherConnection = false
        needsFreshConnection = true
    }

    /// Whether libcurl may connect, or send, although it has sent before: only where not one byte has left.
    func mayResend() -> Bool {
        guard sends > 0, let sent = bytesSent, sent == 0 else {
            guard sends > 0 else { return true }
            sentAtRefusal = max(sentAtRefusal, bytesSent ?? 0)
            resendWasRefused = true
            return false
        }
        return true
    }

    /// Takes libcurl's note of the key that the server has shown.
    func noteKey(_ note: UnsafeRawBufferPointer) {
        let words: StaticString = " public key hash: "
        guard note.begins(with: words) else { return }
        shownKey = String(decoding: note.dropFirst(words.utf8CodeUnitCount).prefix { $0 > 0x20 }, as: UTF8.self)
    }

    // MARK: Pausing

    /// Goes on, if the callers have caught up.
    ///
    /// - Returns: libcurl's result; what it held back is handed over before this returns, and may be refused.
    func unpause() -> CURLcode {
        guard !isFinished, let slot, isReceivePaused || isSendPaused else { return CURLE_OK }
        let hasRoom = isDraining || pipe?.hasRoom ?? true
        if hasRoom { isReceivePaused = false }
        isSendPaused = false
        noteActivity()
        if isAnsweredEarly { round.nextLimit = min(round.nextLimit, lastActivity.after(Self.graceOfAnsweredRequests)) }
        return curl_easy_pause(slot.easy, isReceivePaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    /// How many bytes the body has, where that is known; not for a body whose coding is undone.
    var bodyLength: Int64? {
        head.coding != .none && slot?.decodes == true && wireLength != 0 ? nil : wireLength
    }

    private var isHead: Bool { slot.map { $0.isHead } ?? (request.method == .head) }

    /// How many bytes of body come, where that is known.
    var wireLength: Int64? {
        isHead || head.status == 204 || head.status == 304 ? 0 : head.contentLength
    }

    /// Sees to it that a request does not wait for a server that has answered it, and wants no more of it.
    ///
    /// A server that answers early may just stop to take the body, and libcurl (7.88) would wait for it until the idle
    /// limit; over HTTP/1 only after a 2xx, since it sends no more after others. Some servers do go on reading, so the
    /// body goes on as long as any of it is taken.
    func noteEarlyAnswer() {
        guard !upload.isInline, !isAnsweredEarly, wireSize == wireLength, mayAwaitServer else { return }
        isAnsweredEarly = true
        round.nextLimit = min(round.nextLimit, lastActivity.after(Self.graceOfAnsweredRequests))
    }

    /// For how long an answered request waits for the server to take more of its body.
    private static let graceOfAnsweredRequests: Int64 = 1_000_000_000

    /// Whether the server has said over HTTP/1 that all is well, and what it takes next is not there yet.
    private var awaitsBodyAfterAnswer: Bool { isSendPaused && head.version != .http2 }

    var isBodyUnsent: Bool {
        guard let easy = slot?.easy else { return false }
        guard let length = upload.length else { return !upload.isDone }
        return refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T) < length
    }

    /// Whether the rest of an unread response may be short enough to be read.
    var canBeDrained: Bool {
        guard head.isComplete, upload.isDone else { return false }
        // What ends with its connection costs that in any case, and a stream over HTTP/2 costs none.
        guard let wireLength else { return head.isChunked }
        return wireLength - wireSize <= Int64(UnreadBody.maximumSize)
    }
}
