internal import CurlShim
internal import RefrainHTTP

extension Transfer {
    /// Puts more of the request's body into libcurl's buffer; returns how much, or what to do instead.
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

    /// Notes that the source of the body has nothing to send as yet.
    func pauseSending() {
        isSendPaused = true
        round.nextLimit = min(round.nextLimit, round.now.after(Self.timeBetweenLooks))
    }

    /// Looks whether the source is waited for in vain; answers what the transfer has come to then.
    ///
    /// libcurl (7.88) stops to send where the server has refused the request, but while it waits for the source it does
    /// not see that it is done. Nor does it see there that the server has gone.
    func resultOfVainWait() -> CURLcode? {
        guard !isFinished, isSendPaused, let slot else { return nil }
        if wantsNoMore {
            isSendPaused = false
            noteActivity()
            let result = curl_easy_pause(slot.easy, isReceivePaused ? CURLPAUSE_RECV : CURLPAUSE_CONT)
            return result == CURLE_OK ? nil : result
        }
        // What libcurl holds back for a slow reader would be lost.
        guard sends > 0, !isReceivePaused, head.version != .http2, host?.isMultiplexed != true else { return nil }
        guard connection?.hasEnded == true else { return nil }
        guard head.hasBegun else { return CURLE_GOT_NOTHING }
        // Whether the last chunk has arrived is unknown.
        return head.isComplete && head.isChunked ? CURLE_PARTIAL_FILE : CURLE_OK
    }

    /// How often that is asked, while the source of a body is waited for.
    static let timeBetweenLooks: Int64 = 1_000_000_000

    /// Whether the answer over HTTP/1 is such that libcurl sends no more of the request.
    private var wantsNoMore: Bool { head.isComplete && head.status >= 300 && head.version != .http2 }

    /// Whether some of the body may wait for the server to take it.
    ///
    /// Newer versions of libcurl (8.23) count as sent over HTTP/2 what they hold back for the window of the stream.
    var mayAwaitServer: Bool {
        isBodyUnsent || head.version == .http2 && CurlVersion.requestSize != .head
    }

    /// Looks, once there is an answer, at what it leaves of the request (RFC 9112 §9.3).
    ///
    /// After `Expect` libcurl (7.88) keeps the body back where the answer is below 300, and uses the connection again;
    /// the server would take the next request for the body.
    @inline(never)
    func noteUnsentBody() {
        if isSendPaused, wantsNoMore { round.nextLimit = round.now }
        if head.status < 300, isBodyUnsent, request.headers["Expect"] != nil { spoilConnection() }
    }

    /// Keeps the connection from being used again.
    func spoilConnection() {
        guard let slot else { return }
        refrain_set_long(slot.easy, CURLOPT_FORBID_REUSE, 1)
        spoilsConnection = true
    }
}
