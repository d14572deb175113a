// SPDX-License-Identifier: Apache-2.0
internal import RefrainHTTP

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What comes: the head of a response, and its body, which is collected, streamed or dropped.
final class ReceivedResponse {
    /// Why a transfer is stopped from here.
    struct StopReason {
        var code: HTTPError.Code
        var message: String
        var underlyingError: (any Error)?
    }

    @exclusivity(unchecked) private(set) var head = ReceivedHead()
    /// The facts of the exchange, once the head is complete.
    private(set) var exchange = HTTPResponse.Exchange()
    /// The destination of a streamed body, once its response was delivered.
    private(set) var pipe: ByteChannel?
    /// The bytes of the body that were received, before decoding.
    private(set) var wireSize: Int64 = 0
    /// Whether the reader of the body has no room.
    private(set) var isPaused = false
    /// Whether the rest of the body is read only so that the connection can be reused.
    private(set) var isDraining = false
    /// Why the transfer is stopped; nil if it goes on.
    private(set) var stopReason: StopReason?
    private let limit: Int
    private let isForHead: Bool
    private var decodes = false
    @exclusivity(unchecked) private var body = ReceivedBody()
    private var bodySize = 0
    private var decoder: ContentDecoder?
    /// The check of a chunked body over HTTP/1.
    private var chunks: ChunkFraming?
    private var drained = 0
    /// Whether the body ends with the connection, and TLS was not ended with close_notify.
    private var endOfTLSIsMissing = false

    init(_ request: HTTPRequest) {
        // A stream has no default limit; that limit is for collected bodies.
        let standardLimit = request.streamsResponse ? Int.max : HTTPRequest.defaultMaximumBodySize
        limit = max(0, request.maximumBodySize ?? standardLimit)
        isForHead = request.method == .head
    }

    /// Stops the transfer; the first reason counts.
    func stop(_ code: HTTPError.Code, _ message: String, underlyingError: (any Error)? = nil) {
        guard stopReason == nil else { return }
        stopReason = StopReason(code: code, message: message, underlyingError: underlyingError)
    }

    // MARK: Head

    /// Records that a part of the head was received.
    func noteHead(_ partial: ReceivedHead) { head.note(partial) }

    /// Receives the complete head.
    func begin(_ head: ReceivedHead, _ exchange: HTTPResponse.Exchange, decodes: Bool) {
        self.head = head
        self.exchange = exchange
        self.decodes = decodes
        if head.isChunked, head.version != .http2 { chunks = ChunkFraming() }
        if isDecoded { decoder = ContentDecoder(head.coding) }
    }

    func noteSizes(received: Int64, sent: Int64?) { (exchange.bytesReceived, exchange.bytesSent) = (received, sent) }

    func noteSent(_ sent: Int64?) { exchange.bytesSent = sent }

    /// Whether the body is decoded.
    private var isDecoded: Bool { head.coding != .none && decodes }

    /// The length of the body; nil if unknown, or if the body is decoded.
    var bodyLength: Int64? { isDecoded && wireLength != 0 ? nil : wireLength }

    /// The length of the body before decoding; nil if unknown.
    var wireLength: Int64? { isForHead || head.status == 204 || head.status == 304 ? 0 : head.contentLength }

    /// Whether as many bytes of the body were received as the head announced.
    var isWhole: Bool { wireSize == wireLength }

    /// Prepares for the body; stops the transfer if it is too large.
    ///
    /// - Parameters:
    ///   - streams: whether the response is delivered before its body is complete.
    ///   - isDeferrable: whether it may be; a body that may be dropped is not rejected for its length.
    func expectBody(streams: Bool, isDeferrable: Bool) {
        let length = bodyLength
        if let length, length > Int64(limit), !isDeferrable { return stopForSize() }
        if streams {
            // The part of the body that arrives in this iteration is delivered with the response: mostly all of a small
            // one.
            if let length, length <= Self.smallBody { body.reserve(length) } else { pipe = ByteChannel() }
        } else if let length {
            body.reserve(min(length, Int64(limit)))
        }
    }

    /// The maximum size of a streamed body that is stored until the end of the iteration in which its head arrived.
    private static let smallBody: Int64 = 64 << 10

    // MARK: Body

    /// Whether the reader can take more.
    var hasRoom: Bool { isDraining || pipe?.hasRoom ?? true }

    /// Whether so much of a body was received that could be delivered later that it is delivered now.
    var exceedsDeferral: Bool { bodySize > UnreadBody.maximumSize }

    func pause() { isPaused = true }

    /// Lets libcurl deliver again, if there is room.
    func resume() { if hasRoom { isPaused = false } }

    /// Reads the rest of the body only so that the connection can be reused.
    func beginDraining() { isDraining = true }

    /// Receives a piece of the body, after its head; returns false to end the transfer.
    func receive(_ bytes: UnsafeRawBufferPointer, _ iteration: LoopIteration) -> Bool {
        wireSize += Int64(bytes.count)
        if isDraining {
            drained += bytes.count
            return drained <= UnreadBody.maximumSize
        }
        return isDecoded ? decode(bytes, iteration) : keep(bytes, iteration)
    }

    /// Checks data of a chunked body before libcurl decodes it; returns false if it is malformed.
    func acceptsChunks(_ bytes: UnsafeRawBufferPointer) -> Bool {
        guard chunks?.accepts(bytes) == false else { return true }
        chunks = nil
        stop(.badServerResponse, "the size of a chunk is malformed (RFC 9112 §7.1)")
        return false
    }

    /// Records whether TLS was ended, for a body that ends with the connection.
    func noteEndOfTLS(isMissing: Bool) { endOfTLSIsMissing = isMissing }

    /// Adds content to the body; returns false to end the transfer.
    private func keep(_ bytes: UnsafeRawBufferPointer, _ iteration: LoopIteration) -> Bool {
        guard bytes.count <= limit - bodySize else {
            stopForSize()
            return false
        }
        bodySize += bytes.count
        if let pipe {
            if let isTaken = pipe.consume(bytes) {
                // The time that the reader took does not count towards the server's limits.
                iteration.now = .now
                if !isTaken { stop(.callerFailed, "the reader has failed") }
                return isTaken
            }
            if pipe.append(bytes) { iteration.note(pipe) }
        } else if !body.append(bytes) {
            stop(.unknown, "there is no memory for the body")
            return false
        }
        return true
    }

    /// Decodes received data; returns false to end the transfer.
    private func decode(_ bytes: UnsafeRawBufferPointer, _ iteration: LoopIteration) -> Bool {
        guard let decoder else {
            // The body of a request with its own Accept-Encoding is not decoded, so this coding was not requested.
            stopForCoding("it came in \(head.coding), which was not asked for")
            return false
        }
        do throws(DecodingLayer.Failure) {
            try decoder.decode(bytes) { keep($0, iteration) }
            return true
        } catch {
            // If it was stopped, `keep` has said why.
            if case .malformed(let reason) = error { stopForCoding("it is not valid \(head.coding): \(reason)") }
            return false
        }
    }

    private func stopForSize() {
        stop(.dataLengthExceedsMaximum, "the body of the response is larger than \(limit) bytes")
    }

    private func stopForCoding(_ reason: String) {
        stop(.cannotDecodeContentData, "the body cannot be decoded: \(reason)")
    }

    /// Returns the destination of the body, which begins with what was received so far.
    func openPipe() -> ByteChannel {
        let pipe = pipe ?? ByteChannel()
        self.pipe = pipe
        if !body.isEmpty { body.take().withUnsafeBytes { _ = pipe.append($0) } }
        return pipe
    }

    /// Whether the rest of an unread response may be short enough to be read so that the connection can be reused.
    var canBeDrained: Bool {
        guard head.isComplete else { return false }
        // A body that ends with the connection does not allow reuse; ending a stream of HTTP/2 keeps the connection.
        guard let wireLength else { return head.isChunked }
        return wireLength - wireSize <= Int64(UnreadBody.maximumSize)
    }

    // MARK: End

    /// Stops a transfer that libcurl has finished without an error, if the response is not whole (guard 1).
    ///
    /// libcurl reports success also if the peer closed the connection within the head, and may interpret the fields
    /// with the length of the body differently.
    ///
    /// - Parameter announcedLength: the length of the body according to libcurl; negative if unknown.
    func checkEnd(announcedLength: @autoclosure () -> Int64) {
        guard head.isComplete else {
            let message = "the connection was closed before the head of the response was complete"
            return stop(.networkConnectionLost, message)
        }
        guard !endOfTLSIsMissing else {
            let message = "the connection was closed without the end of TLS, so the body may be cut short"
            return stop(.networkConnectionLost, message)
        }
        if let wireLength, wireSize != wireLength {
            let message = "\(wireSize) bytes of the body came, and the head of the response says \(wireLength)"
            return stop(wireSize < wireLength ? .networkConnectionLost : .badServerResponse, message)
        }
        // libcurl (8.14) goes by a length that must be ignored.
        if head.hasTransferCoding, !head.isChunked, wireLength == nil, announcedLength() >= 0 {
            let message = "a length beside a transfer coding says nothing (RFC 9112 §6.3), and libcurl went by it"
            return stop(.badServerResponse, message)
        }
        if decoder?.isComplete == false { stopForCoding("all of it came, yet its \(head.coding) ends too soon") }
    }

    /// The response to a request, with this body.
    func response(to request: HTTPRequest, _ body: HTTPBody) -> HTTPResponse {
        HTTPResponse(
            request: request,
            status: HTTPStatus(rawValue: head.status),
            headers: head.headers,
            body: body,
            exchange: exchange
        )
    }

    /// The content that was collected so far.
    var content: Data { body.bytes }

    /// Removes and returns the content that was collected.
    func takeContent() -> Data { body.take() }
}
