internal import CurlShim
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

extension Transfer {
    /// Receives a line of the head; returns false to end the transfer.
    @inline(__always)
    func receiveHeader(_ line: UnsafeBufferPointer<UInt8>, by handle: EasyHandle) -> Bool {
        noteActivity()
        guard sends > 0 else {
            // A proxy's response to CONNECT arrives before anything is sent.
            handle.proxyHead.read(line)
            return true
        }
        return handle.reader.skip(line) || readHeader(line, by: handle)
    }

    private func readHeader(_ line: UnsafeBufferPointer<UInt8>, by handle: EasyHandle) -> Bool {
        let outcome = handle.reader.read(line)
        head.note(handle.reader.head)
        switch outcome {
        case .goOn:
            return true
        case .refuse(let reason):
            stopReason = HTTPError(.badServerResponse, request: request, message: reason)
            return false
        case .complete:
            head = handle.reader.head
            return headIsComplete()
        }
    }

    private func headIsComplete() -> Bool {
        let length = bodyLength
        exchange = HTTPResponse.Exchange(
            // For a collected body it is read at the end.
            bytesSent: streams ? bytesSent : nil,
            version: head.versionText,
            reusedConnection: handle.map { refrain_get_long($0.easy, CURLINFO_NUM_CONNECTS) == 0 } ?? false
        )
        if request.recordsConnection {
            exchange.connection = handle?.connectionFacts(isTLS: isTLS)
            exchange.connection?.headSize = handle?.reader.size ?? 0
        }
        connection?.isSerial = head.version != .http2
        if head.version != .http2 {
            // What arrives together with such an end libcurl drops, and reuses the connection.
            if head.isChunked || wireLength == 0 { handle?.watchFraming() }
            if head.isChunked { chunks = ChunkFraming() }
            connection?.keepAlive = head.keepAlive
            // Of TLS within TLS only the inner layer can be asked for data beyond the response.
            if isTLS, handle?.settings.proxyUsesTLS == true { spoilConnection() }
        }
        // A 204 has no content (RFC 9110 §8.6). Content that this one announces may still arrive, and would be read as
        // the next response.
        if head.status == 204, head.version != .http2, head.isChunked || (head.contentLength ?? 0) > 0 {
            spoilConnection()
        }
        // `owner` is set if the request has deferred bodies. A body that may be discarded is not rejected for its
        // length.
        let isDeferrable = !streams && owner != nil && request.deferredBodies.contains(status: head.status)
        if let length, length > Int64(bodyLimit), !isDeferrable {
            stopReason = tooLarge
            return false
        }
        if head.coding != .none, handle?.decodes == true { decoder = ContentDecoder(head.coding) }
        if isTLS, length == nil, !head.isChunked, head.version != .http2 { handle?.watchEnd(true) }
        if streams {
            // The part of the body that arrives in this iteration is delivered with the response: mostly all of a small
            // one.
            if let length, length <= Self.smallBody { body.reserve(length) } else { pipe = ByteChannel() }
            iteration.note(self)
        } else if let length {
            body.reserve(min(length, Int64(bodyLimit)))
        }
        if isDeferrable {
            handOverLimit = iteration.now.after(Self.graceOfDeferredBodies)
            iteration.nextLimit = min(iteration.nextLimit, handOverLimit)
        }
        noteEarlyAnswer()
        if !isBodyless, head.version != .http2 { noteUnsentBody() }
        return true
    }

    /// Checks data of a chunked body before libcurl decodes it.
    func receiveChunks(_ bytes: UnsafeRawBufferPointer) {
        guard chunks != nil, chunks?.accepts(bytes) == false else { return }
        chunks = nil
        spoilConnection()
        stopReason = HTTPError(
            .badServerResponse,
            request: request,
            message: "the size of a chunk is malformed (RFC 9112 §7.1)"
        )
    }

    /// Receives a piece of the body; returns the number of bytes accepted.
    func receiveBody(_ bytes: UnsafeRawBufferPointer) -> Int {
        noteActivity()
        guard stopReason == nil else { return 0 }
        // Guard 1: libcurl may deliver a body although the head is incomplete.
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
        guard head.coding != .none, handle?.decodes == true else { return keep(bytes) ? bytes.count : 0 }
        return decode(bytes) ? bytes.count : 0
    }

    /// Adds content to the body; returns false to end the transfer.
    private func keep(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard bytes.count <= bodyLimit - bodySize else {
            stopReason = tooLarge
            return false
        }
        bodySize += bytes.count
        if let pipe {
            if let isTaken = pipe.consume(bytes) {
                // The time that the reader took does not count towards the server's limits.
                iteration.now = .now
                noteActivity()
                guard !isTaken else { return true }
                stopReason = HTTPError(.callerFailed, request: request, message: "the reader has failed")
                return false
            }
            if pipe.append(bytes) { iteration.note(pipe) }
        } else if !body.append(bytes) {
            stopReason = HTTPError(.unknown, request: request, message: "there is no memory for the body")
            return false
        }
        return true
    }

    /// Decodes received data; returns false to end the transfer.
    private func decode(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard let decoder else {
            // The body of a request with its own Accept-Encoding is not decoded, so this coding was not requested.
            stopReason = undecodable("it came in \(head.coding), which was not asked for")
            return false
        }
        do throws(DecodingLayer.Failure) {
            try decoder.decode(bytes) { keep($0) }
            return true
        } catch .malformed(let reason) {
            stopReason = undecodable("it is no \(head.coding): \(reason)")
        } catch {
            // `keep` has set `stopReason`.
        }
        return false
    }

    /// How long to wait for a deferred body, in nanoseconds.
    ///
    /// The body of most errors and redirects arrives together with the head. A short wait for it takes less time than
    /// reading it as a stream, or making another connection meanwhile.
    private static let graceOfDeferredBodies: Int64 = 20_000_000

    /// The maximum size of a streamed body that is stored until the end of the iteration in which its head arrived.
    private static let smallBody: Int64 = 64 << 10

    /// Delivers the response with a streamed body, unless it was delivered or the transfer has ended.
    func handOver() {
        handOverLimit = .never
        guard !isFinished else { return }
        if !streams { exchange.bytesSent = bytesSent }
        openStream()
    }

    /// Delivers the response with a streamed body that begins with the data received so far.
    func openStream() {
        guard let owner else { return }
        let pipe = pipe ?? ByteChannel()
        self.pipe = pipe
        self.owner = nil
        if !body.isEmpty { body.take().withUnsafeBytes { _ = pipe.append($0) } }
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
