internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Transfer {
    /// Takes a line of the head; false ends the transfer.
    @inline(__always)
    func receiveHeader(_ line: UnsafeBufferPointer<UInt8>, by slot: EasyHandle) -> Bool {
        noteActivity()
        guard sends > 0 else {
            // A proxy's answer to CONNECT comes before anything is sent.
            slot.proxyHead.read(line)
            return true
        }
        return slot.reader.skip(line) || readHeader(line, by: slot)
    }

    private func readHeader(_ line: UnsafeBufferPointer<UInt8>, by slot: EasyHandle) -> Bool {
        let outcome = slot.reader.read(line)
        head.note(slot.reader.head)
        switch outcome {
        case .goOn:
            return true
        case .refuse(let reason):
            stopReason = HTTPError(.badServerResponse, request: request, message: reason)
            return false
        case .complete:
            head = slot.reader.head
            return headIsComplete()
        }
    }

    private func headIsComplete() -> Bool {
        let length = bodyLength
        exchange = HTTPResponse.Exchange(
            // Else it is asked for at the end.
            bytesSent: streams ? bytesSent : nil,
            version: head.versionText,
            reusedConnection: slot.map { refrain_get_long($0.easy, CURLINFO_NUM_CONNECTS) == 0 } ?? false
        )
        if request.recordsConnection {
            exchange.connection = slot?.connectionFacts(isTLS: isTLS)
            exchange.connection?.headSize = slot?.reader.size ?? 0
        }
        connection?.isSerial = head.version != .http2
        // A 204 has no content (RFC 9110 §8.6); what this one announces may still come, and pass for the next answer.
        if head.status == 204, head.version != .http2, head.isChunked || (head.contentLength ?? 0) > 0 {
            spoilConnection()
        }
        // `owner` is there where the request asks for it. A body that may be discarded is not refused for its length.
        let isDeferrable = !streams && owner != nil && request.deferredBodies.contains(status: head.status)
        if let length, length > Int64(bodyLimit), !isDeferrable {
            stopReason = tooLarge
            return false
        }
        if head.coding != .none, slot?.decodes == true { decoder = ContentDecoder(head.coding) }
        if isTLS, length == nil, !head.isChunked, head.version != .http2 { slot?.watchEnd(true) }
        if streams {
            // What comes of the body in this round goes along with the response. All of a small one mostly does.
            if let length, length <= Self.smallBody { body.reserveCapacity(Int(length)) } else { pipe = ByteChannel() }
            round.note(self)
        } else if let length {
            // A length is only a promise: memory beyond this is taken as the bytes arrive.
            body.reserveCapacity(Int(min(length, 1 << 20)))
        }
        if isDeferrable {
            handOverLimit = round.now.after(Self.graceOfDeferredBodies)
            round.nextLimit = min(round.nextLimit, handOverLimit)
        }
        noteEarlyAnswer()
        if !isBodyless, head.version != .http2 { noteUnsentBody() }
        return true
    }

    /// Takes a piece of the body; returns how much of it was taken.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        noteActivity()
        // Guard 1: libcurl may deliver a body although the head never ended.
        guard head.isComplete else { return bytes.count }
        if isDraining {
            wireSize += Int64(bytes.count)
            drained += bytes.count
            return drained <= UnreadBody.maximumSize ? bytes.count : 0
        }
        defer { if handOverLimit != .never, bodySize > UnreadBody.maximumSize { handOver() } }
        if let pipe, !pipe.hasRoom {
            isReceivePaused = true
            return Int(CURL_WRITEFUNC_PAUSE)
        }
        wireSize += Int64(bytes.count)
        defer { noteEarlyAnswer() }
        guard head.coding != .none, slot?.decodes == true else { return keep(bytes) ? bytes.count : 0 }
        return decode(bytes) ? bytes.count : 0
    }

    /// Adds content to the body; false ends the transfer.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= bodyLimit - bodySize else {
            stopReason = tooLarge
            return false
        }
        bodySize += bytes.count
        if let pipe {
            if let isTaken = pipe.consume(bytes) {
                // It may have taken its time, which is not the server's.
                round.now = .now
                noteActivity()
                guard !isTaken else { return true }
                stopReason = HTTPError(.callerFailed, request: request, message: "the reader has failed")
                return false
            }
            if pipe.append(bytes) { round.note(pipe) }
        } else if let start = bytes.baseAddress {
            // By its address: as a sequence it would be taken byte by byte.
            body.append(start.assumingMemoryBound(to: UInt8.self), count: bytes.count)
        }
        return true
    }

    /// Undoes the coding of what has arrived; false ends the transfer.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let decoder else {
            // A request with an Accept-Encoding of its own gets the body as it comes.
            stopReason = undecodable("it came in \(head.coding), which was not asked for")
            return false
        }
        do throws(DecodingLayer.Failure) {
            try decoder.decode(bytes) { keep($0) }
            return true
        } catch .malformed(let reason) {
            stopReason = undecodable("it is no \(head.coding): \(reason)")
        } catch {
            // The body has said itself why it takes no more.
        }
        return false
    }

    /// How long to wait for a body that may not be read, in nanoseconds.
    ///
    /// The body of most errors and redirects comes along with the head: to wait for it a moment is quicker than to
    /// read it as a stream, or to make another connection meanwhile.
    private static let graceOfDeferredBodies: Int64 = 20_000_000

    /// The size up to which a streamed body is kept until the end of the round in which its response came.
    private static let smallBody: Int64 = 64 << 10

    /// Hands the response over with a body that is read as it arrives, unless that was done or the transfer has ended.
    func handOver() {
        handOverLimit = .never
        guard !isFinished else { return }
        if !streams { exchange.bytesSent = bytesSent }
        openStream()
    }

    /// Hands the response over with a body that begins with what has arrived so far.
    func openStream() {
        guard let owner else { return }
        let pipe = pipe ?? ByteChannel()
        self.pipe = pipe
        self.owner = nil
        if !body.isEmpty { body.withUnsafeBytes { _ = pipe.append($0) } }
        body = Data()
        let rest = pipe.body(length: bodyLength, from: TransferSource(self, of: owner))
        finish(.success(response(with: rest)))
    }

    private var tooLarge: HTTPError {
        HTTPError(
            .dataLengthExceedsMaximum,
            request: request,
            message: "the body of the response is larger than \(bodyLimit) bytes"
        )
    }
}
