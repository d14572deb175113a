// SPDX-License-Identifier: Apache-2.0
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

/// The receiver of a transfer's result.
enum Completion {
    /// No receiver, or the result was delivered.
    case none
    /// The task that is suspended until the transfer has a result, and then takes it from the transfer.
    ///
    /// Passing the result through the continuation would take three times 40 bytes in the frames of the waiting task.
    case task(UnsafeContinuation<Void, Never>)
}

/// One request in flight in a loop.
///
/// It passes what libcurl reports to its parts, and combines what they know into a result. ``Upload`` is what is sent,
/// ``ReceivedResponse`` what comes; ``TransferLimits`` says how long it may take, ``ConnectAttempts`` which addresses
/// are tried, and ``SendGuard`` prevents the request from being sent twice.
final class Transfer: @unchecked Sendable {
    // @unchecked Sendable: confined to the task that made it until it is submitted, and to the owner of the loop
    // afterwards, except `wasCancelled` and `wasSubmitted`, which are accessed with the command queue locked. The task
    // accesses `loop` before it is suspended; after it is resumed, also `result` and a collected `response`, of which
    // the owner of the loop then only releases its reference to the transfer.
    let request: HTTPRequest
    let url: TargetURL
    /// Whether the request can be sent without waiting, and its body and response are in memory.
    let isPlain: Bool
    /// Whether the response is delivered before its body is complete.
    let streams: Bool

    // With the command queue locked.
    private(set) var wasCancelled = false
    private(set) var wasSubmitted = false

    private var completion = Completion.none
    /// The loop to which it is submitted; used by the waiting task.
    private var loop: EventLoop?
    /// Set if the transfer has failed, or at the end of the head of a streamed response, until the receiver takes it.
    private var result: HTTPResult?
    private(set) var submittedAt = MonotonicTime.never
    /// The loader, until a streamed body retains it.
    private var owner: CurlLoader?

    // The properties below are only for the owner of the loop.
    //
    // exclusivity(unchecked), here and for what each line of a head and each piece of a body changes: accesses cannot
    // overlap, since no part calls back, and the checks took a tenth of the instructions of a small exchange.
    /// The driver's record of where the transfer is: its origin's queue, its handle, its place among active transfers.
    var host: OriginQueue?
    var handle: EasyHandle?
    var index = 0
    var isWaiting = false
    var isFinished = false
    private var iteration = LoopIteration.none

    /// What is sent.
    @exclusivity(unchecked) private(set) var upload: Upload
    /// What comes.
    let response: ReceivedResponse
    @exclusivity(unchecked) private(set) var limits: TransferLimits
    @exclusivity(unchecked) private(set) var connecting = ConnectAttempts()
    /// The guard against a second send.
    @exclusivity(unchecked) private(set) var sending: SendGuard
    /// Whether the response is complete although the server has not read the whole request.
    private(set) var isAnsweredEarly = false
    /// Whether the connection must not be reused, because data of this exchange could be read as part of the next one.
    private(set) var spoilsConnection = false
    /// The public key of the server, if keys are pinned.
    private var shownKey: String?

    /// - Parameters:
    ///   - endOfOrigin: the result of validating the request.
    ///   - loop: the loop to which it will be submitted.
    ///   - owner: the loader, for a body that may be streamed.
    init(_ request: HTTPRequest, endOfOrigin: Int? = nil, loop: EventLoop? = nil, owner: CurlLoader? = nil) {
        self.request = request
        self.loop = loop
        url = TargetURL(request, endOfOrigin: endOfOrigin)
        streams = request.streamsResponse
        if streams || !request.deferredBodies.isEmpty { self.owner = owner }
        let bodySize = request.bodySizeInMemory ?? .max
        isPlain = !streams && !request.needsFreshConnection && bodySize <= Upload.inlineLimit
        upload = Upload(isAbsent: bodySize == 0)
        response = ReceivedResponse(request)
        limits = TransferLimits(request.attemptLimits)
        sending = SendGuard(needsFreshConnection: request.needsFreshConnection)
    }

    // MARK: Submission

    /// Submits the transfer to its loop; the continuation is resumed when the transfer has a result.
    func submit(_ continuation: UnsafeContinuation<Void, Never>) {
        guard let loop else { return continuation.resume() }
        loop.submit(self, .task(continuation))
    }

    /// Cancels the transfer.
    func cancel() { loop?.cancel(self) }

    /// Removes and returns the result; called by the resumed task.
    func takeResult() -> HTTPResult {
        loop = nil
        return result.take() ?? collectedResult
    }

    /// The response with its collected body.
    ///
    /// The receiver makes it rather than the loop: memory that one thread allocates and another one frees makes both
    /// wait for the allocator's lock.
    private var collectedResult: HTTPResult {
        guard response.head.isComplete else { return .failure(HTTPError(.unknown, request: request)) }
        return .success(response.response(to: request, HTTPBody(.bytes(response.takeContent()))))
    }

    func noteSubmission() { submittedAt = .now }

    /// Records that the loop accepts it; called with the command queue locked.
    func accept(_ completion: Completion) {
        self.completion = completion
        wasSubmitted = true
    }

    /// Records that its task was cancelled; called with the command queue locked.
    func noteCancellation() { wasCancelled = true }

    /// Ends a transfer that the loop does not accept.
    func refuse(_ completion: Completion, _ code: HTTPError.Code, _ message: String?) {
        owner = nil
        self.completion = completion
        finish(.failure(HTTPError(code, request: request, message: message, bytesSent: 0)))
    }

    /// Stores the result, nil for a collected response, and resumes the waiting task; later calls do nothing.
    private func finish(_ result: HTTPResult?) {
        guard case .task(let continuation) = completion else { return }
        completion = .none
        self.result = result
        continuation.resume()
    }

    // MARK: Start

    /// Joins a loop, and begins the limits that include the wait for a connection.
    func begin(_ iteration: LoopIteration) {
        self.iteration = iteration
        limits.begin(submittedAt: submittedAt)
    }

    /// The time of the loop's iteration.
    var now: MonotonicTime { iteration.now }

    /// Opens the request's body.
    func openBody() throws(HTTPError) {
        do throws(UploadFailure) {
            try upload.open(request.body)
        } catch {
            throw failure(error.code, message: error.message, underlyingError: error.underlyingError)
        }
    }

    /// Begins the connect limit, once libcurl has the transfer.
    func start() { limits.beginConnecting(now: iteration.now) }

    /// Whether the transfer must be sent on another connection, and no byte has been sent on this one.
    func mustStartOver(after result: CURLcode) -> Bool {
        if sending.needsOtherConnection { return true }
        if result == CURLE_COULDNT_CONNECT, sending.sends == 0, connecting.mayTryOthers(iteration) { return true }
        // libcurl returns this before it sends a body of unknown length to a server that used HTTP/1.0, but not on a
        // new connection.
        return result == CURLE_UPLOAD_FAILED && !sending.needsFreshConnection && upload.taken == 0
    }

    /// Resets the transfer, of which no byte has been sent, for another connection.
    func startOver() {
        upload.close()
        handle = nil
        sending.startOver()
    }

    // MARK: Connecting

    /// The name of the host, if it is the URL's own name that libcurl has looked up.
    var nameToLookUp: String? {
        guard let handle, !handle.settings.connectsElsewhere else { return nil }
        return url.hostName
    }

    func noteLookup() { connecting.beginLookup() }
    func noteEndOfLookup() { connecting.endLookup() }
    func noteSecondLookup() { connecting.noteSecondLookup() }
    func noteNameServers(areSilent: Bool) { connecting.noteNameServers(areSilent: areSilent) }

    /// Opens a socket for libcurl, unless the address is excluded, or it could only be used to send the request again.
    func openSocket(to address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        guard !sending.needsOtherConnection, sending.mayResend(facts) else { return CURL_SOCKET_BAD }
        let key = AddressKey(address)
        if connecting.endLookup() { handle?.endLookup(self) }
        guard handle?.settings.allowsFamily(of: address) != false, connecting.mayConnect(to: key, iteration),
            policyAllows(address)
        else { return CURL_SOCKET_BAD }
        let socket = refrain_open_socket(address)
        guard socket >= 0 else {
            connecting.noteUnopened(errno)
            return CURL_SOCKET_BAD
        }
        refrain_watch_add(iteration.watch, socket)
        if limitsConnectItself, connecting.isEmpty {
            // Connecting begins now; the transfer may have waited for others before.
            iteration.checkLimits(by: limits.restartConnecting(now: iteration.now))
        }
        connecting.append(socket, to: key, iteration, timeLeft: limits.timeToConnect(now: iteration.now))
        return socket
    }

    /// Whether the policy allows a connection to the address to which libcurl is about to connect.
    private func policyAllows(_ address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let policy = handle?.settings.destinations, !policy.allowsAll else { return true }
        guard policy.allows(AddressKey.bytes(of: address)) else {
            connecting.noteRefusalByPolicy()
            return false
        }
        return true
    }

    /// Whether only this transfer's limit ends connecting: libcurl's limit would end a request that waits for a stream.
    ///
    /// libcurl then does not divide the time among several addresses, so a silent one may take all of it.
    var limitsConnectItself: Bool { CurlVersion.countsWaitAsConnecting && host?.isMultiplexed == true }

    /// Whether to call libcurl now, so that it tries the next address.
    func mustTryNextAddress() -> Bool { connecting.isDue(now: iteration.now) }

    /// Records the addresses that were tried, if the transfer failed to connect; returns whether any was tried.
    func noteFailedConnect(_ code: HTTPError.Code) -> Bool {
        sending.sends == 0 && connecting.noteFailure(code, iteration)
    }

    /// The key of the connection if its addresses have no ports; nil for all others.
    var keyWithoutPorts: UInt64? {
        guard let handle, handle.settings.usesUnixSocket else { return nil }
        let number =
            CurlVersion.logsConnectionNumbers ? sending.connectionNumber : refrain_connection_number(handle.easy)
        return ConnectionTable.key(number: number ?? -1)
    }

    // MARK: Sending

    /// Called before libcurl sends the request on the connection with this key; returns false to prevent that.
    func willSend(on key: UInt64, localPort: Int32) -> Bool {
        guard let handle, let facts else { return false }
        connecting.endLookup()
        guard sending.mayBegin(facts) else { return false }
        if refrain_get_long(handle.easy, CURLINFO_NUM_CONNECTS) > 0 {
            let port = handle.settings.usesUnixSocket ? nil : localPort
            sending.note(connecting.takeConnection(key, localPort: port, iteration))
        } else if CurlVersion.announcesRequests {
            guard sending.accepts(iteration.connections[key], facts, now: iteration.now) else { return false }
        }
        if sending.sends == 0 { host?.sent += 1 }
        sending.noteSend()
        noteActivity()
        handle.beginToSend()
        return true
    }

    /// Copies a piece of the request's body into libcurl's buffer; returns its size, or a code that pauses or aborts.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do throws(UploadFailure) {
            guard let count = try upload.read(into: buffer) else {
                iteration.checkLimits(by: iteration.now.after(TransferLimits.pauseCheckInterval))
                return Int(CURL_READFUNC_PAUSE)
            }
            noteActivity()
            return count
        } catch {
            response.stop(error.code, error.message, underlyingError: error.underlyingError)
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// What the guard needs to count the bytes sent; nil without a handle.
    private var facts: SendGuard.Facts? {
        guard let handle else { return nil }
        return SendGuard.Facts(
            easy: handle.easy,
            isInline: upload.isInline,
            bodyTaken: upload.taken,
            isHTTP2: response.head.version == .http2,
            mayBeMultiplexed: url.isTLS && handle.settings.speaksHTTP2 && host?.isMultiplexed != false
                && host?.wantsHTTP1 != true
        )
    }

    /// The bytes of the request that may have been sent; nil if unknown.
    private var bytesSent: Int64? { sending.bytesSent(facts) }

    /// Whether the response came over HTTP/2; nil if unknown.
    var isMultiplexed: Bool? { url.isTLS && response.head.hasBegun ? response.head.version == .http2 : nil }

    /// Records that a byte was sent or received.
    private func noteActivity() {
        limits.noteActivity(now: iteration.now)
        iteration.hadActivity = true
        refrain_watch_deliver(iteration.watch)
    }

    /// Records that the last response on the connection is complete.
    func noteEndOfExchange() { if response.head.isComplete { sending.connection?.idleSince = iteration.now } }

    /// Prevents that the connection is reused.
    private func spoilConnection() {
        guard let handle else { return }
        refrain_set_long(handle.easy, CURLOPT_FORBID_REUSE, 1)
        spoilsConnection = true
    }

    // MARK: Receiving

    /// Receives a line of the head; returns false to end the transfer.
    func receiveHeader(_ line: UnsafeBufferPointer<UInt8>, by handle: EasyHandle) -> Bool {
        noteActivity()
        guard sending.sends > 0 else {
            // A proxy's response to CONNECT arrives before anything is sent.
            handle.proxyHead.read(line)
            return true
        }
        return handle.reader.skip(line) || readHeader(line, by: handle)
    }

    private func readHeader(_ line: UnsafeBufferPointer<UInt8>, by handle: EasyHandle) -> Bool {
        let outcome = handle.reader.read(line)
        response.noteHead(handle.reader.head)
        switch outcome {
        case .goOn:
            return true
        case .refuse(let reason):
            response.stop(.badServerResponse, reason)
            return false
        case .complete:
            return receiveHead(handle.reader.head, by: handle)
        }
    }

    private func receiveHead(_ head: ReceivedHead, by handle: EasyHandle) -> Bool {
        var exchange = HTTPResponse.Exchange(
            // For a collected body it is read at the end.
            bytesSent: streams ? bytesSent : nil,
            version: head.versionText,
            reusedConnection: refrain_get_long(handle.easy, CURLINFO_NUM_CONNECTS) == 0
        )
        if request.recordsConnection {
            exchange.connection = handle.connectionReport(isTLS: url.isTLS)
            exchange.connection?.headSize = handle.reader.size
        }
        response.begin(head, exchange, decodes: handle.decodes)
        sending.connection?.isSerial = head.version != .http2
        if head.version != .http2 {
            // What arrives together with such an end libcurl drops, and reuses the connection.
            if head.isChunked || response.wireLength == 0 { handle.watchFraming() }
            sending.connection?.keepAlive = head.keepAlive
            // Of TLS within TLS only the inner layer can be asked for data beyond the response.
            if url.isTLS, handle.settings.proxyUsesTLS { spoilConnection() }
            // A 204 has no content (RFC 9110 §8.6). Content that this one announces may still arrive, and would be read
            // as the next response.
            if head.status == 204, head.isChunked || (head.contentLength ?? 0) > 0 { spoilConnection() }
        }
        // `owner` is set if the request has deferred bodies.
        let isDeferrable = !streams && owner != nil && request.deferredBodies.contains(status: head.status)
        response.expectBody(streams: streams, isDeferrable: isDeferrable)
        guard response.stopReason == nil else { return false }
        if url.isTLS, response.bodyLength == nil, !head.isChunked, head.version != .http2 { handle.watchEnd(true) }
        if streams { iteration.note(self) }
        if isDeferrable {
            iteration.checkLimits(by: limits.beginWaitForBody(now: iteration.now))
        }
        noteEarlyAnswer(handle)
        if !upload.isAbsent, head.version != .http2 { noteUnsentBody(handle) }
        return true
    }

    /// Receives a piece of the body; returns the number of bytes accepted.
    func receiveBody(_ bytes: UnsafeRawBufferPointer, by handle: EasyHandle) -> Int {
        noteActivity()
        guard response.stopReason == nil else { return 0 }
        // Guard 1: libcurl may deliver a body although the head is incomplete.
        guard response.head.isComplete else { return bytes.count }
        guard response.hasRoom else {
            response.pause()
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        let isAccepted = response.receive(bytes, iteration)
        // A reader may have taken its time.
        limits.noteActivity(now: iteration.now)
        if !response.isDraining { noteEarlyAnswer(handle) }
        if limits.handOver != .never, response.exceedsDeferral { handOver() }
        return isAccepted ? bytes.count : 0
    }

    /// Records that the connection ends, with or without the end of TLS.
    func noteEndOfTLS(isMissing: Bool) { response.noteEndOfTLS(isMissing: isMissing) }

    /// Called when the response will not be read: begins to read its rest so that the connection can be reused; returns
    /// false if the rest is too long.
    func beginDraining() -> Bool {
        guard upload.isDone, response.canBeDrained, host?.hasWaiting != true else { return false }
        response.beginDraining()
        iteration.checkLimits(by: limits.beginDraining(now: iteration.now))
        return true
    }

    /// Delivers the response with a streamed body, unless it was delivered or the transfer has ended.
    func handOver() {
        limits.endWaitForBody()
        guard !isFinished else { return }
        if !streams { response.noteSent(bytesSent) }
        openStream()
    }

    /// Delivers the response with a streamed body that begins with the data received so far.
    private func openStream() {
        guard let owner else { return }
        self.owner = nil
        let rest = response.openPipe().body(length: response.bodyLength, from: TransferSource(self, of: owner))
        finish(.success(response.response(to: request, rest)))
    }

    // MARK: Responses before the end of the request

    /// Limits the wait for a server that has responded and may not read the rest of the request.
    ///
    /// A server that responds early may stop reading the body, and libcurl (7.88) would wait until the idle limit; over
    /// HTTP/1 only after a 2xx, because it stops sending after others. Some servers continue to read, so the body is
    /// sent as long as any of it is read.
    private func noteEarlyAnswer(_ handle: EasyHandle) {
        guard !upload.isInline, !isAnsweredEarly, response.isWhole, mayAwaitServer(handle) else { return }
        isAnsweredEarly = true
        iteration.checkLimits(by: limits.endOfAnswered)
    }

    /// Whether a part of the body may not have been sent because the server does not read it.
    ///
    /// Over HTTP/2 newer versions of libcurl (8.23) count data as sent that waits for the window of the stream.
    private func mayAwaitServer(_ handle: EasyHandle) -> Bool {
        upload.isUnsent(handle.easy) || response.head.version == .http2 && CurlVersion.requestSize != .head
    }

    /// Called when a head is complete; prevents reuse of a connection on which the body was not sent (RFC 9112 §9.3).
    ///
    /// After `Expect` libcurl (7.88) does not send the body if the status is below 300, and reuses the connection; the
    /// server would read the next request as the body.
    private func noteUnsentBody(_ handle: EasyHandle) {
        if upload.isPaused, stopsSending { iteration.nextLimit = iteration.now }
        if response.head.status < 300, upload.isUnsent(handle.easy), request.headers["Expect"] != nil {
            spoilConnection()
        }
    }

    /// Whether libcurl sends no more of the request after this response over HTTP/1.
    private var stopsSending: Bool {
        response.head.isComplete && response.head.status >= 300 && response.head.version != .http2
    }

    // MARK: Pausing

    /// Resumes the transfer as far as the reader and the source of the body allow.
    ///
    /// - Returns: libcurl's result. Data that it held back is delivered before this returns, and a callback may fail.
    func unpause() -> CURLcode {
        guard !isFinished, let handle, response.isPaused || upload.isPaused else { return CURLE_OK }
        response.resume()
        upload.resume()
        noteActivity()
        if isAnsweredEarly { iteration.checkLimits(by: limits.endOfAnswered) }
        return curl_easy_pause(handle.easy, response.isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
    }

    /// Checks a transfer that waits for the body's source; returns its result if it has ended, otherwise nil.
    ///
    /// libcurl (7.88) stops sending if the server has rejected the request, but does not notice that the transfer is
    /// complete while it waits for the source, nor that the server has closed the connection.
    func resultWhilePaused() -> CURLcode? {
        guard !isFinished, upload.isPaused, let handle else { return nil }
        if stopsSending {
            upload.resume()
            noteActivity()
            let result = curl_easy_pause(handle.easy, response.isPaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
            return result == CURLE_OK ? nil : result
        }
        let head = response.head
        // Data that libcurl holds back for a slow reader would be lost.
        guard sending.sends > 0, !response.isPaused, head.version != .http2, host?.isMultiplexed != true else {
            return nil
        }
        guard sending.connection?.hasEnded == true else { return nil }
        guard head.hasBegun else { return CURLE_GOT_NOTHING }
        // Whether the last chunk has arrived is unknown.
        return head.isComplete && head.isChunked ? CURLE_PARTIAL_FILE : CURLE_OK
    }

    // MARK: Limits

    private var situation: TransferLimits.Situation {
        // Whether it waits for a stream on another transfer's connection, or for that connection, rather than for its
        // own. libcurl enforces the connect limit itself from the beginning of connecting.
        let waitsForOthers = connecting.isEmpty && (host?.sent ?? 0) > 0
        // Whether the server has responded over HTTP/1, and the source of the body has no data yet.
        let awaitsSource = upload.isPaused && response.head.version != .http2
        return TransferLimits.Situation(
            isConnecting: sending.sends == 0 && !waitsForOthers,
            isSent: sending.sends > 0,
            hasAnswerBegun: response.head.hasBegun,
            isReceivePaused: response.isPaused,
            isSendPaused: upload.isPaused,
            // A collected response over HTTP/2 waits not only for the source of the request's body, and libcurl (7.88)
            // would not notice the end of the response while it waits for that source.
            isAnswering: response.head.isComplete && response.head.version == .http2 && response.pipe == nil,
            awaitsReading: isAnsweredEarly && !response.isPaused && !awaitsSource,
            ownPause: handle?.longestPause ?? 0
        )
    }

    /// When the transfer exceeds a limit, unless its state changes.
    var limit: MonotonicTime { limits.limit(situation) }

    /// When to check the limits again, independently of the transfer's events.
    var nextCheck: MonotonicTime {
        limits.nextCheck(situation, nextAddress: connecting.nextCheck, now: iteration.now)
    }

    /// The message of the limit that has passed.
    var timeoutMessage: String { limits.message(situation, now: iteration.now) }

    // MARK: End

    /// Makes an error of this transfer, with the bytes sent and the response so far.
    func failure(
        _ code: HTTPError.Code,
        message: String? = nil,
        underlyingError: (any Error)? = nil
    ) -> HTTPError {
        HTTPError(
            code,
            request: request,
            response: arrivedResponse,
            underlyingError: underlyingError,
            message: message,
            bytesSent: bytesSent
        )
    }

    /// The response as far as it was received; nil without a complete head.
    private var arrivedResponse: HTTPResponse? {
        guard response.pipe == nil, !streams, response.head.isComplete else { return nil }
        response.noteSent(bytesSent)
        return response.response(to: request, HTTPBody(.bytes(response.content)))
    }

    /// Returns the error for libcurl's result; nil if the response is complete.
    func outcome(of result: CURLcode) -> HTTPError? {
        guard let handle else { return nil }
        let (hasBegun, isComplete) = (response.head.hasBegun, response.head.isComplete)
        var result = result
        if result == CURLE_HTTP2_STREAM, isComplete, response.isWhole {
            // The server has responded, and needs no more of the request (RFC 9113 §8.1).
            result = CURLE_OK
            isAnsweredEarly = true
        }
        if CurlVersion.hidesRefusal, result == CURLE_SEND_ERROR, handle.errorMessage == nil, !hasBegun {
            sending.noteRefusalIfOpen()
        }
        response.noteSizes(received: refrain_get_offset(handle.easy, CURLINFO_SIZE_DOWNLOAD_T), sent: bytesSent)
        // A server that responds early may close the connection before it has read the whole request.
        let isWhole = result == CURLE_SEND_ERROR && isComplete && response.isWhole
        if response.stopReason == nil, result == CURLE_OK || isWhole {
            // Newer versions (8.23) reuse such a connection for the next request, which would be lost.
            if !isComplete, !sending.stream.isKnown { sending.connection?.isSerial = true }
            response.checkEnd(
                announcedLength: refrain_get_offset(handle.easy, CURLINFO_CONTENT_LENGTH_DOWNLOAD_T)
            )
            if response.stopReason == nil { return nil }
        }
        if let stop = response.stopReason {
            return failure(stop.code, message: stop.message, underlyingError: stop.underlyingError)
        }
        if expectationFailed(result) {
            // The handle is not reused, as after any request that libcurl was prevented from sending again.
            isAnsweredEarly = true
            return nil
        }
        return failure(of: result, handle)
    }

    /// Whether the server has rejected the request's `Expect` with a 417, whose body is complete.
    ///
    /// libcurl drops the body of a 417 in order to send the request again. If the connection stays open, it calls the
    /// callback before that only after it has read the body to its end; otherwise only an empty body is complete.
    private func expectationFailed(_ result: CURLcode) -> Bool {
        guard response.head.isComplete, response.head.status == 417 else { return false }
        // If it does not announce requests, the limit on redirects prevents that it sends again.
        guard sending.resendWasRefused else { return result == CURLE_TOO_MANY_REDIRECTS }
        return result == CURLE_ABORTED_BY_CALLBACK || response.wireLength == 0 || CurlVersion.mayLeaveRefusalUnread
    }

    /// Makes the error for a result of libcurl that is a failure.
    private func failure(of result: CURLcode, _ handle: EasyHandle) -> HTTPError {
        let text = message(of: result, handle)
        let proxyStatus = refrain_get_long(handle.easy, CURLINFO_HTTP_CONNECTCODE)
        let proxyAnswer =
            proxyStatus >= 300
            ? HTTPError.ProxyAnswer(status: HTTPStatus(rawValue: proxyStatus), headers: handle.proxyHead.headers) : nil
        if connecting.policyRefused, sending.sends == 0, result == CURLE_COULDNT_CONNECT, connecting.isEmpty {
            let message = "the address of the host is none that connections may be made to"
            return failure(.destinationRefused, message: message)
        }
        let failed = CurlLoader.Failure(code: Int32(result.rawValue), message: text)
        let facts = CurlErrorMapping(
            result: result,
            message: text,
            hasMessage: handle.errorMessage != nil,
            wasSent: sending.sends > 0,
            isNameServerSilent: connecting.isNameServerSilent,
            headIsComplete: response.head.isComplete,
            isPaused: response.isPaused,
            resendWasRefused: sending.resendWasRefused,
            streamWasRefused: sending.streamWasRefused,
            inputWasRefused: sending.stream.inputWasRefused,
            systemError: Int32(truncatingIfNeeded: refrain_get_long(handle.easy, CURLINFO_OS_ERRNO)),
            verification: refrain_get_long(handle.easy, CURLINFO_SSL_VERIFYRESULT),
            hasClientCertificate: handle.trust.hasCertificate,
            proxyStatus: proxyStatus,
            proxyMayConnectLater: proxyAnswer?.isTransient ?? true
        )
        let shown = facts.lineIsTooLong ? "a line of the head of the response is longer than 100 KB" : text
        var error = failure(facts.code, message: shown, underlyingError: failed)
        if facts.refusesTunnel { error.proxyAnswer = proxyAnswer }
        return error
    }

    private func message(of result: CURLcode, _ handle: EasyHandle) -> String {
        if sending.resendWasRefused {
            if sending.streamWasRefused { return "the server did not process the request" }
            if sending.stream.inputWasRefused { return "the server's frames break the rules or limits of HTTP/2" }
            if sending.stream.wantsHTTP1 { return "the server wants the request over HTTP/1.1 (HTTP_1_1_REQUIRED)" }
            return "the connection was lost before an answer came"
        }
        if sending.stream.answerWasDropped {
            return response.head.isComplete
                ? "the server answered before it had the whole request, and libcurl may have dropped the end of the "
                    + "answer; over HTTP/1.1 it is read"
                : "the server answered before it had the whole request, and libcurl has dropped the answer; "
                    + "over HTTP/1.1 it is read"
        }
        if sending.stream.answerMayBeDropped {
            return "the server cancelled the request (CANCEL), and libcurl may have dropped an answer before that; "
                + "over HTTP/1.1 it is read"
        }
        if result == CURLE_COULDNT_RESOLVE_HOST, connecting.isNameServerSilent {
            return "no name server has answered whether there is the host \(nameToLookUp ?? "")"
        }
        if result == CURLE_COULDNT_CONNECT, connecting.isEmpty, let number = connecting.openingError {
            return "the system opens no socket: \(String(cString: strerror(number)))"
        }
        if result == CURLE_SSL_PINNEDPUBKEYNOTMATCH {
            return "the server's public key is none of those that are pinned for its host; it is "
                + "\(shownKey ?? "unknown"), to be pinned only if you know from elsewhere that it is the server's"
        }
        return handle.errorMessage ?? String(cString: curl_easy_strerror(result))
    }

    /// Delivers the end of the transfer to the caller: a response, an error, or the end of a stream.
    func complete(_ error: HTTPError?) {
        let isComplete = response.head.isComplete
        // A partial response is delivered as a stream: first the response, then the data received.
        if streams || isBodyBroken(error), isComplete, response.pipe != nil || error != nil { openStream() }
        upload.close()
        owner = nil
        if case .none = completion {
            response.pipe?.finish(error)
        } else {
            finish(error.map { .failure($0) })
        }
    }

    /// Whether this is the failure of a body that could have been delivered as a stream.
    ///
    /// The decision about its response then depends on the head, as if the body had failed later (rule R28): a redirect
    /// is followed, and a transient status is retried with its `Retry-After`.
    private func isBodyBroken(_ error: HTTPError?) -> Bool {
        guard limits.handOver != .never, let error else { return false }
        return error.code != .cancelled && error.code != .timedOut
    }

    // MARK: The verbose log

    /// Reads data that libcurl has received, before it decodes chunks.
    func readReceived(_ data: UnsafeRawBufferPointer) { if !response.acceptsChunks(data) { spoilConnection() } }

    /// Reads data that libcurl has sent.
    func readSent(_ data: UnsafeRawBufferPointer, isHead: Bool) {
        sending.noteLogged(data.count)
        if isHead, !CurlVersion.announcesRequests, !data.begins(with: "CONNECT ") { noteUnannounced() }
    }

    /// Reads a line: about a request that was not processed, about data beyond a response, about the server's public
    /// key, or with the number of a connection.
    func readLog(_ line: UnsafeRawBufferPointer) {
        if !CurlVersion.announcesRequests { readUnannounced(line) }
        // The first letters of the lines of interest.
        switch line.first {
        case UInt8(ascii: "E"), UInt8(ascii: "L"):
            if HTTP2StreamLog.namesExcess(line) { spoilConnection() }
        case UInt8(ascii: "C"), UInt8(ascii: "D"), UInt8(ascii: "H"), UInt8(ascii: "R"), UInt8(ascii: "U"),
            UInt8(ascii: "["), UInt8(ascii: "r"):
            if CurlVersion.logsConnectionNumbers, handle?.settings.usesUnixSocket == true {
                sending.readConnectionNumber(line)
            }
            if HTTP2StreamLog.givesUpConnection(line), !response.head.hasBegun, let handle {
                sending.noteRefusalOnReusedConnection(handle)
            }
            sending.readStream(line, mayHideAnswer: !upload.isAbsent && !response.head.hasBegun)
        case UInt8(ascii: "s"):
            // What came together with the reset is lost in libcurl (7.88), and without a length the end is unknown.
            if !response.head.hasBegun || !response.isWhole { sending.readEndOfStream(line) }
        case UInt8(ascii: " "): readKey(line)
        // Before 7.78.
        case UInt8(ascii: "\t"): readKey(UnsafeRawBufferPointer(rebasing: line.dropFirst()))
        case UInt8(ascii: "h"), UInt8(ascii: "n"), UInt8(ascii: "p"):
            // Some versions reuse this connection for the next request, which would fail immediately (7.76, 8.20) or
            // receive no response (8.7).
            if sending.refusesInput(line), let handle { refrain_set_long(handle.easy, CURLOPT_FORBID_REUSE, 1) }
        default: break
        }
    }

    /// Reads the server's public key.
    private func readKey(_ line: UnsafeRawBufferPointer) {
        let prefix: StaticString = " public key hash: "
        guard line.begins(with: prefix) else { return }
        shownKey = String(decoding: line.dropFirst(prefix.utf8CodeUnitCount).prefix { $0 > 0x20 }, as: UTF8.self)
    }

    // For versions of libcurl without a callback before sending (``CurlVersion/announcesRequests``) the log has the
    // choice of the connection, and the beginning of sending.

    private func readUnannounced(_ line: UnsafeRawBufferPointer) {
        if line.begins(with: "Re-using existing connection") {
            noteReuse()
        } else if line.begins(with: "Using Stream ID: ") {
            noteUnannounced()
        }
    }

    private func noteReuse() {
        // The local port is known only at this time.
        guard sending.sends == 0, let handle, let facts, let (key, _) = handle.connectionKey else { return }
        let connection = iteration.connections[key]
        // No byte has been sent.
        guard !sending.accepts(connection, facts, now: iteration.now) else { return }
        handle.requireFreshConnection()
        connection?.end()
    }

    /// Records that libcurl has begun to send.
    ///
    /// It logs that twice over HTTP/2, and more often for a long head.
    private func noteUnannounced() {
        guard sending.sends == 0 || !connecting.isEmpty, let handle, let (key, port) = handle.connectionKey else {
            return
        }
        // libcurl cannot be prevented from sending again on an existing connection, so it must use a new one.
        if willSend(on: key, localPort: port) { handle.requireFreshConnection() }
    }
}

/// Passes the calls of a streamed body's reader to its transfer.
///
/// It retains the loader, whose loop ends when the loader is deallocated.
final class TransferSource: ByteChannel.Source {
    private let transfer: Transfer
    private let loader: CurlLoader

    init(_ transfer: Transfer, of loader: CurlLoader) {
        self.transfer = transfer
        self.loader = loader
    }

    func resume() { loader.loop.post(.resume(transfer)) }
    func cancel() { loader.loop.cancel(transfer) }
    func discard() { loader.loop.post(.discard(transfer)) }
}
