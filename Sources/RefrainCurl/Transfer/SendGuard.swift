// SPDX-License-Identifier: Apache-2.0
internal import CurlShim

/// Guard 2: what was sent of a request, which libcurl must not send again.
///
/// libcurl repeats a request on its own if a reused connection turns out to be dead, also one that the server may have
/// processed. It may do so only if no byte has been sent.
struct SendGuard {
    /// What the number of bytes sent depends on beside libcurl's counts.
    struct Facts {
        /// The request's handle.
        let easy: UnsafeMutableRawPointer
        /// Whether the body is sent along with the head, or there is none.
        let isInline: Bool
        /// The bytes of the body that libcurl has read.
        let bodyTaken: Int64
        /// Whether the response came over HTTP/2.
        let isHTTP2: Bool
        /// Whether the request may be sent over HTTP/2.
        let mayBeMultiplexed: Bool
    }

    /// How often libcurl has begun to send the request.
    private(set) var sends = 0
    private var sizeBefore: Int64 = 0
    /// The bytes sent according to the verbose log, for versions that do not count them.
    private var loggedSize: Int64 = 0
    /// The bytes that may have been sent when libcurl was prevented from sending again.
    private var sentAtRefusal: Int64 = 0
    private(set) var resendWasRefused = false
    /// The stream of the request over HTTP/2.
    private(set) var stream = HTTP2StreamLog()
    /// The connection of the request, if known.
    private(set) var connection: OpenConnection?
    /// The number of the connection in libcurl according to its verbose log, for connections without ports.
    private(set) var connectionNumber: Int64?
    /// Whether it was stopped before anything was sent, because the connection is unusable.
    private(set) var needsOtherConnection = false
    /// Whether it must be sent on a new connection.
    private(set) var needsFreshConnection: Bool

    init(needsFreshConnection: Bool) { self.needsFreshConnection = needsFreshConnection }

    /// The bytes of the request that may have been sent; nil if unknown.
    ///
    /// Without facts there is no handle.
    func bytesSent(_ facts: Facts?) -> Int64? {
        guard sends > 0, let facts else { return 0 }
        let requestSize = Int64(refrain_get_long(facts.easy, CURLINFO_REQUEST_SIZE)) - sizeBefore
        switch CurlVersion.requestSize {
        case .head: break
        case .verboseLog, .whole:
            let sent = max(CurlVersion.requestSize == .verboseLog ? loggedSize : requestSize, sentAtRefusal)
            return sent == 0 && facts.mayBeMultiplexed ? nil : sent
        }
        let bodySize = refrain_get_offset(facts.easy, CURLINFO_SIZE_UPLOAD_T)
        // Over HTTP/1 libcurl counts a small body twice, because it sends it along with the head.
        let sum =
            facts.isInline && !facts.isHTTP2
            ? max(requestSize, bodySize) : requestSize.addingReportingOverflow(bodySize).partialValue
        // libcurl resets its count of a body when it is about to send the body again.
        let forgotten = bodySize == 0 && requestSize > 0 && !facts.isInline ? facts.bodyTaken : 0
        let sent = max(sum.addingReportingOverflow(forgotten).partialValue, sentAtRefusal)
        // A frame may have been sent although libcurl counts nothing, if the frame after it failed.
        return sent == 0 && facts.mayBeMultiplexed ? nil : sent
    }

    /// Whether libcurl may connect or send again: only if no byte has been sent.
    mutating func mayResend(_ facts: Facts?) -> Bool {
        guard sends > 0 else { return true }
        let sent = bytesSent(facts)
        guard sent != 0 else { return true }
        sentAtRefusal = max(sentAtRefusal, sent ?? 0)
        resendWasRefused = true
        return false
    }

    /// Called before libcurl sends the request; returns false to prevent that.
    mutating func mayBegin(_ facts: Facts) -> Bool {
        if sends == 0 {
            loggedSize = 0
            sizeBefore = Int64(refrain_get_long(facts.easy, CURLINFO_REQUEST_SIZE))
            return true
        }
        guard mayResend(facts) else { return false }
        stream = HTTP2StreamLog()
        return true
    }

    /// Records the connection on which the request will be sent.
    mutating func note(_ connection: OpenConnection?) { self.connection = connection }

    /// Returns false if a reused connection is unusable: the last check before libcurl sends the first byte.
    mutating func accepts(_ connection: OpenConnection?, _ facts: Facts, now: MonotonicTime) -> Bool {
        self.connection = connection
        guard sends == 0, let connection, connection.isSpoiled(facts.easy) || connection.isExpiring(now: now) else {
            return true
        }
        needsOtherConnection = true
        return false
    }

    /// Records that libcurl begins to send.
    mutating func noteSend() { sends += 1 }

    /// Resets a request of which no byte has been sent, for another connection.
    mutating func startOver() {
        sends = 0
        connection = nil
        connectionNumber = nil
        needsOtherConnection = false
        needsFreshConnection = true
    }

    // MARK: The verbose log

    /// Counts bytes that libcurl has sent.
    mutating func noteLogged(_ count: Int) { loggedSize += Int64(count) }

    /// Reads a line about the stream of the request.
    mutating func readStream(_ line: UnsafeRawBufferPointer, mayHideAnswer: Bool) {
        if let last = stream.read(line, mayHideAnswer: mayHideAnswer) { connection?.lastProcessed = last }
    }

    /// Reads a line about the end of the stream, before which no complete response was delivered.
    mutating func readEndOfStream(_ line: UnsafeRawBufferPointer) { stream.noteEnd(line) }

    /// Records and returns whether nghttp2 rejects further data on the connection.
    mutating func refusesInput(_ line: UnsafeRawBufferPointer) -> Bool { stream.refusesInput(line) }

    /// Reads the number of a connection without ports.
    mutating func readConnectionNumber(_ line: UnsafeRawBufferPointer) {
        guard line.begins(with: "Connected to ") || line.begins(with: "Re-using existing connection"),
            let mark = line.lastIndex(of: UInt8(ascii: "#"))
        else { return }
        let digits = line[(mark + 1)...].prefix { (0x30...0x39).contains($0) }
        connectionNumber = Int64(String(decoding: digits, as: UTF8.self))
    }

    /// Called when libcurl replaces a reused connection, both after it was lost and after the server has refused the
    /// stream (RFC 9113 §8.7); records a refusal.
    ///
    /// Only a refusal leaves the connection intact: not ended by TCP or TLS, without unread data, and without an error
    /// of libcurl's own. In doubt the request counts as lost.
    mutating func noteRefusalOnReusedConnection(_ handle: EasyHandle) {
        guard sends > 0, stream.isKnown, handle.errorMessage == nil, connection?.isQuiet == true,
            refrain_tls_was_ended(handle.easy) == 0
        else { return }
        stream.noteRefusal()
    }

    /// Records that the stream was refused, unless it is unknown or the server has ended it otherwise.
    mutating func noteRefusalIfOpen() { stream.noteRefusalIfOpen() }

    /// Whether the server reported that it did not process the request.
    var streamWasRefused: Bool { stream.wasRefused(lastProcessed: connection?.lastProcessed) }
}
