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
    func receiveHeader(_ line: UnsafeBufferPointer<UInt8>, by slot: EasySlot) -> Bool {
        noteActivity()
        return slot.reader.skip(line) || readHeader(line, by: slot)
    }

    private func readHeader(_ line: UnsafeBufferPointer<UInt8>, by slot: EasySlot) -> Bool {
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
        exchange = ExchangeFacts(
            // Else it is asked for at the end.
            bytesSent: pipe == nil ? nil : bytesSent,
            version: head.versionText,
            reusedConnection: slot.map { refrain_get_long($0.easy, CURLINFO_NUM_CONNECTS) == 0 } ?? false
        )
        connection?.isSerial = head.version != .http2
        if let length, length > Int64(bodyLimit) {
            stopReason = tooLarge
            return false
        }
        if head.coding != .none, slot?.decodes == true { decoder = ContentDecoder(head.coding) }
        if isTLS, length == nil, !head.isChunked, head.version != .http2 { slot?.watchEnd(true) }
        if let pipe, let owner {
            let recipient = recipient
            self.owner = nil
            self.recipient = .nobody
            let body = pipe.body(of: self, length: length, for: owner)
            recipient.hear(.success(response(with: body)))
        } else if let length {
            // A length is only a promise: memory beyond this is taken as the bytes arrive.
            body.reserveCapacity(Int(min(length, 1 << 20)))
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
            return drained <= 65_536 ? bytes.count : 0
        }
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
        let sizeBefore = bodySize
        bodySize += bytes.count
        if bodySize > LargeBodies.size, sizeBefore <= LargeBodies.size { _ = LargeBodies.prepare }
        if let pipe {
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
        do throws(ContentDecoder.Failure) {
            try decoder.decode(bytes) { keep($0) }
            return true
        } catch .malformed(let reason) {
            stopReason = undecodable("it is no \(head.coding): \(reason)")
        } catch {
            // The body has said itself why it takes no more.
        }
        return false
    }

    private var tooLarge: HTTPError {
        HTTPError(
            .dataLengthExceedsMaximum,
            request: request,
            message: "the body of the response is larger than \(bodyLimit) bytes"
        )
    }
}
