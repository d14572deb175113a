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

/// One request in flight in a loop, and its state.
final class Transfer: @unchecked Sendable {
    // @unchecked Sendable: confined to the task that made it until it is submitted, and to the owner of the loop
    // afterwards, except `wasCancelled` and `wasSubmitted`, which are accessed with the command queue locked, and
    // `result`, which the task accesses after it is resumed.
    let request: HTTPRequest
    let limits: Limits
    let url: String
    let isTLS: Bool
    /// Whether the request can be sent without waiting, and its body and response are in memory.
    let isPlain: Bool
    /// Whether the response is delivered before its body is complete.
    let streams: Bool
    /// Whether the request certainly has no body.
    let isBodyless: Bool
    /// Whether the URL's authority is a host name or address in ASCII, with or without a port, and nothing else.
    let namesPlainHost: Bool
    /// The end of the URL's scheme and authority.
    let hostEnd: Int

    // With the command queue locked.
    var wasCancelled = false
    var wasSubmitted = false

    // Set once before the loop sees the transfer.
    @exclusivity(unchecked) var completion = Completion.none
    /// The loop to which it is submitted; used by the waiting task.
    @exclusivity(unchecked) var loop: EventLoop?
    /// Set at the end of the transfer, or at the end of the head of a streamed response, until the receiver takes it.
    @exclusivity(unchecked) var result: HTTPResult?
    var submittedAt = MonotonicTime.never
    /// The destination of a streamed body, once its response was delivered.
    @exclusivity(unchecked) var pipe: ByteChannel?
    /// The loader, until a streamed body retains it.
    @exclusivity(unchecked) var owner: CurlLoader?

    // The properties below are only for the owner of the loop. No access overlaps another one, so those that are used
    // for every request have no exclusivity checks.
    @exclusivity(unchecked) var host: OriginQueue?
    @exclusivity(unchecked) var handle: EasyHandle?
    var index = 0
    var isFinished = false
    var isWaiting = false
    @exclusivity(unchecked) var iteration = LoopIteration.none

    // Guard 2: what was sent, which libcurl must not send again.
    @exclusivity(unchecked) var sends = 0
    var sizeBefore: Int64 = 0
    /// The bytes sent according to the verbose log, for versions that do not count them.
    var loggedSize: Int64 = 0
    var resendWasRefused = false
    @exclusivity(unchecked) var stream = HTTP2StreamLog()
    /// The connection of the request, if known.
    @exclusivity(unchecked) var connection: OpenConnection?
    /// The number of the connection in libcurl according to its verbose log, for connections without ports.
    var connectionNumber: Int64?
    /// Whether it was stopped before anything was sent, because the connection is unusable.
    var needsOtherConnection = false
    /// Whether it must be sent on a new connection.
    var needsFreshConnection: Bool
    /// The sockets opened to send the request, in order.
    @exclusivity(unchecked) var opened = OpenedSockets()
    /// Whether libcurl is resolving a name.
    var isLookingUp = false
    /// Whether the name was looked up a second time, to find out why the first lookup has failed.
    var wasLookedUpAgain = false
    /// Whether the name servers have failed rather than answered that there is no such name.
    var isNameServerSilent = false
    /// Whether an address was excluded because a connection to it failed before, or by the destination policy.
    var (hasLeftOutAddress, policyRefused) = (false, false)
    /// Whether the excluded addresses are tried now.
    var triesAllAddresses = false

    // The response.
    @exclusivity(unchecked) var head = ReceivedHead()
    /// The facts of the exchange, once the head is complete.
    @exclusivity(unchecked) var exchange = HTTPResponse.Exchange()
    @exclusivity(unchecked) var body = ReceivedBody()
    @exclusivity(unchecked) var bodySize = 0
    /// The bytes of the body that were received, before decoding.
    @exclusivity(unchecked) var wireSize: Int64 = 0
    /// Whether the response is complete although the server has not read the whole request.
    var isAnsweredEarly = false
    /// Whether the connection must not be reused, because data of this exchange could be read as part of the next one.
    var spoilsConnection = false
    @exclusivity(unchecked) var decoder: ContentDecoder?
    let bodyLimit: Int
    /// The check of a chunked body over HTTP/1.
    @exclusivity(unchecked) var chunks: ChunkFraming?
    /// Whether the body ends with the connection, and TLS was not ended with close_notify.
    var endOfTLSIsMissing = false
    /// Why a callback stopped the transfer.
    @exclusivity(unchecked) var stopReason: HTTPError?
    var isReceivePaused = false
    var isSendPaused = false
    var isDraining = false
    /// When the response is delivered although its body is incomplete; ``MonotonicTime/never`` for most.
    @exclusivity(unchecked) var handOverLimit = MonotonicTime.never

    // The request's body.
    @exclusivity(unchecked) var upload = UploadSource.none
    /// The bytes of it that libcurl has read.
    var bodyTaken: Int64 = 0

    @exclusivity(unchecked) var cold: ColdState?

    // Times, for `Transfer+Limits`.
    var connectLimit = MonotonicTime.never
    var totalLimit = MonotonicTime.never
    var firstByteLimit = MonotonicTime.never
    @exclusivity(unchecked) var lastActivity = MonotonicTime.never

    /// - Parameter endOfOrigin: the result of validating the request.
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

    // MARK: Guard 2

    /// The bytes of the request that may have been sent; nil if unknown.
    var bytesSent: Int64? {
        guard sends > 0, let easy = handle?.easy else { return 0 }
        let requestSize = Int64(refrain_get_long(easy, CURLINFO_REQUEST_SIZE)) - sizeBefore
        switch CurlVersion.requestSize {
        case .head: break
        case .verboseLog, .whole:
            let sent = max(CurlVersion.requestSize == .verboseLog ? loggedSize : requestSize, sentAtRefusal)
            return sent == 0 && mayBeMultiplexed ? nil : sent
        }
        let headSize = refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T)
        // Over HTTP/1 libcurl counts a small body twice, because it sends it along with the head.
        let sum =
            upload.isInline && head.version != .http2
            ? max(requestSize, headSize) : requestSize.addingReportingOverflow(headSize).partialValue
        // libcurl resets its count of a body when it is about to send the body again.
        let forgotten = headSize == 0 && requestSize > 0 && !upload.isInline ? bodyTaken : 0
        let sent = max(sum.addingReportingOverflow(forgotten).partialValue, sentAtRefusal)
        // A frame may have been sent although libcurl counts nothing, if the frame after it failed.
        return sent == 0 && mayBeMultiplexed ? nil : sent
    }

    /// Whether the request may be sent over HTTP/2.
    var mayBeMultiplexed: Bool {
        isTLS && handle?.settings.speaksHTTP2 == true && host?.isMultiplexed != false && host?.wantsHTTP1 != true
    }

    var isMultiplexed: Bool? { isTLS && head.hasBegun ? head.version == .http2 : nil }

    /// Whether the server reported that it did not process the request.
    var streamWasRefused: Bool { stream.wasRefused(lastProcessed: connection?.lastProcessed) }

    /// Called before libcurl sends the request on the connection with this key; returns false to prevent that.
    func willSend(on key: UInt64, localPort: Int32) -> Bool {
        guard let easy = handle?.easy else { return false }
        isLookingUp = false
        if sends == 0 {
            loggedSize = 0
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
            connection = iteration.connections[key]
        }
        // The last check before libcurl sends: no byte has been sent.
        if CurlVersion.announcesRequests, !isNew, sends == 0, let connection,
            connection.isSpoiled(easy) || connection.isExpiring(now: iteration.now)
        {
            needsOtherConnection = true
            return false
        }
        if sends == 0 { host?.sent += 1 }
        sends += 1
        noteActivity()
        handle?.beginToSend()
        return true
    }

    /// Whether the transfer must be sent on another connection, and no byte has been sent on this one.
    func mustStartOver(after result: CURLcode) -> Bool {
        if needsOtherConnection { return true }
        if result == CURLE_COULDNT_CONNECT, sends == 0, hasLeftOutAddress, !triesAllAddresses {
            noteFailedAddresses(timedOut: false)
            triesAllAddresses = true
            return true
        }
        // libcurl returns this before it sends a body of unknown length to a server that used HTTP/1.0, but not on a
        // new connection.
        return result == CURLE_UPLOAD_FAILED && !needsFreshConnection && bodyTaken == 0
    }

    /// Resets the transfer, of which no byte has been sent, for another connection.
    func startOver() {
        upload.close()
        upload = .none
        handle = nil
        sends = 0
        connection = nil
        connectionNumber = nil
        needsOtherConnection = false
        needsFreshConnection = true
    }

    /// Whether libcurl may connect or send again: only if no byte has been sent.
    func mayResend() -> Bool {
        guard sends > 0, let sent = bytesSent, sent == 0 else {
            guard sends > 0 else { return true }
            sentAtRefusal = max(sentAtRefusal, bytesSent ?? 0)
            resendWasRefused = true
            return false
        }
        return true
    }

    /// Reads the server's public key from a line of the verbose log.
    func readKey(_ line: UnsafeRawBufferPointer) {
        let prefix: StaticString = " public key hash: "
        guard line.begins(with: prefix) else { return }
        shownKey = String(decoding: line.dropFirst(prefix.utf8CodeUnitCount).prefix { $0 > 0x20 }, as: UTF8.self)
    }

    // MARK: Pausing

    /// Resumes the transfer as far as the reader and the source of the body allow.
    ///
    /// - Returns: libcurl's result. Data that it held back is delivered before this returns, and a callback may fail.
    func unpause() -> CURLcode {
        guard !isFinished, let handle, isReceivePaused || isSendPaused else { return CURLE_OK }
        let hasRoom = isDraining || pipe?.hasRoom ?? true
        if hasRoom { isReceivePaused = false }
        isSendPaused = false
        noteActivity()
        if isAnsweredEarly {
            iteration.nextLimit = min(iteration.nextLimit, lastActivity.after(Self.graceOfAnsweredRequests))
        }
        return curl_easy_pause(handle.easy, isReceivePaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    /// The length of the body; nil if unknown, or if the body is decoded.
    var bodyLength: Int64? {
        head.coding != .none && handle?.decodes == true && wireLength != 0 ? nil : wireLength
    }

    private var isHead: Bool { handle.map { $0.isHead } ?? (request.method == .head) }

    /// The length of the body before decoding; nil if unknown.
    var wireLength: Int64? {
        isHead || head.status == 204 || head.status == 304 ? 0 : head.contentLength
    }

    /// Limits the wait for a server that has responded and may not read the rest of the request.
    ///
    /// A server that responds early may stop reading the body, and libcurl (7.88) would wait until the idle limit; over
    /// HTTP/1 only after a 2xx, because it stops sending after others. Some servers continue to read, so the body is
    /// sent as long as any of it is read.
    func noteEarlyAnswer() {
        guard !upload.isInline, !isAnsweredEarly, wireSize == wireLength, mayAwaitServer else { return }
        isAnsweredEarly = true
        iteration.nextLimit = min(iteration.nextLimit, lastActivity.after(Self.graceOfAnsweredRequests))
    }

    /// How long a request with a complete response waits for the server to read more of its body, in nanoseconds.
    static let graceOfAnsweredRequests: Int64 = 1_000_000_000

    /// Whether the server has responded over HTTP/1, and the source of the body has no data yet.
    var awaitsBodyAfterAnswer: Bool { isSendPaused && head.version != .http2 }

    var isBodyUnsent: Bool {
        guard let easy = handle?.easy else { return false }
        guard let length = upload.length else { return !upload.isDone }
        return refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T) < length
    }

    /// Whether the rest of an unread response may be short enough to be read so that the connection can be reused.
    var canBeDrained: Bool {
        guard head.isComplete, upload.isDone else { return false }
        // A body that ends with the connection does not allow reuse; ending a stream of HTTP/2 keeps the connection.
        guard let wireLength else { return head.isChunked }
        return wireLength - wireSize <= Int64(UnreadBody.maximumSize)
    }
}
