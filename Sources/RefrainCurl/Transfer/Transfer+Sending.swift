internal import CurlShim
internal import RefrainHTTP

extension Transfer {
    /// Copies a piece of the request's body into libcurl's buffer; returns its size, or a code that pauses or aborts.
    func readBody(into buffer: UnsafeMutableRawBufferPointer) -> Int {
        do throws(UploadFailure) {
            guard let count = try upload.read(into: buffer) else {
                pauseSending()
                return Int(CURL_READFUNC_PAUSE)
            }
            isSendPaused = false
            noteActivity()
            bodyTaken += Int64(count)
            return count
        } catch {
            stopReason = HTTPError(
                error.code,
                request: request,
                underlyingError: error.underlyingError,
                message: error.message
            )
            return Int(CURL_READFUNC_ABORT)
        }
    }

    /// Records that the source of the body has no data available yet.
    func pauseSending() {
        isSendPaused = true
        iteration.nextLimit = min(iteration.nextLimit, iteration.now.after(Self.pauseCheckInterval))
    }

    /// Checks a transfer that waits for the body's source; returns its result if it has ended, otherwise nil.
    ///
    /// libcurl (7.88) stops sending if the server has rejected the request, but does not notice that the transfer is
    /// complete while it waits for the source, nor that the server has closed the connection.
    func resultWhilePaused() -> CURLcode? {
        guard !isFinished, isSendPaused, let handle else { return nil }
        if stopsSending {
            isSendPaused = false
            noteActivity()
            let result = curl_easy_pause(handle.easy, isReceivePaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
            return result == CURLE_OK ? nil : result
        }
        // Data that libcurl holds back for a slow reader would be lost.
        guard sends > 0, !isReceivePaused, head.version != .http2, host?.isMultiplexed != true else { return nil }
        guard connection?.hasEnded == true else { return nil }
        guard head.hasBegun else { return CURLE_GOT_NOTHING }
        // Whether the last chunk has arrived is unknown.
        return head.isComplete && head.isChunked ? CURLE_PARTIAL_FILE : CURLE_OK
    }

    /// The interval of these checks.
    static let pauseCheckInterval: Int64 = 1_000_000_000

    /// Whether libcurl sends no more of the request after this response over HTTP/1.
    private var stopsSending: Bool { head.isComplete && head.status >= 300 && head.version != .http2 }

    /// Whether a part of the body may not have been sent because the server does not read it.
    ///
    /// Over HTTP/2 newer versions of libcurl (8.23) count data as sent that waits for the window of the stream.
    var mayAwaitServer: Bool {
        isBodyUnsent || head.version == .http2 && CurlVersion.requestSize != .head
    }

    /// Called when a head is complete; prevents reuse of a connection on which the body was not sent (RFC 9112 §9.3).
    ///
    /// After `Expect` libcurl (7.88) does not send the body if the status is below 300, and reuses the connection; the
    /// server would read the next request as the body.
    @inline(never)
    func noteUnsentBody() {
        if isSendPaused, stopsSending { iteration.nextLimit = iteration.now }
        if head.status < 300, isBodyUnsent, request.headers["Expect"] != nil { spoilConnection() }
    }

    /// Prevents that the connection is reused.
    func spoilConnection() {
        guard let handle else { return }
        refrain_set_long(handle.easy, CURLOPT_FORBID_REUSE, 1)
        spoilsConnection = true
    }
}
