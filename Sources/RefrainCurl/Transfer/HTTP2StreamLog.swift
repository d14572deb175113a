// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// The state of the HTTP/2 stream of a request, read from libcurl's verbose log.
///
/// Only the log distinguishes a request that the server has refused, and therefore not processed (RFC 9113 §8.7), from
/// one that was lost. If a line is missing or has another wording, the request counts as lost.
struct HTTP2StreamLog {
    /// The stream of the request; 0 if unknown.
    private var number = 0
    private var wasRefusedBySelf = false
    private var isOver = false
    /// Whether the request is to be sent over HTTP/1.1 (RFC 9113 §7).
    private(set) var wantsHTTP1 = false
    /// Whether libcurl has dropped a response, or the end of one, that arrived before the request was sent completely
    /// (RFC 9113 §8.1).
    ///
    /// libcurl 7.88 does if the reset of the stream arrives together with the response.
    private(set) var answerWasDropped = false
    /// Whether the server has cancelled the stream of a request with a body (CANCEL) before a response was delivered.
    ///
    /// Some servers do behind a complete response that comes before they have the whole request, such as HAProxy 2.6;
    /// libcurl (7.88) drops that response.
    private(set) var answerMayBeDropped = false
    /// Whether nghttp2 has rejected data for the request, such as a head of too many frames.
    private(set) var inputWasRefused = false

    /// Whether the server reported that it did not process the request, by a refusal of the stream or by the last
    /// stream that it processed on the connection.
    func wasRefused(lastProcessed: Int?) -> Bool {
        if wasRefusedBySelf { return true }
        guard let lastProcessed, number > 0 else { return false }
        return number > lastProcessed
    }

    /// Whether the request was sent on an HTTP/2 stream.
    var isKnown: Bool { number > 0 }

    /// Whether libcurl reports that it will use another connection.
    static func givesUpConnection(_ line: UnsafeRawBufferPointer) -> Bool { line.begins(with: "Connection died") }

    /// Whether libcurl reports that it has dropped data beyond a response.
    static func namesExcess(_ line: UnsafeRawBufferPointer) -> Bool {
        line.begins(with: "Excess found") || line.begins(with: "Leftovers after chunking")
    }

    /// Records and returns whether nghttp2 rejects further data on the connection.
    mutating func refusesInput(_ line: UnsafeRawBufferPointer) -> Bool {
        guard
            line.begins(with: "nghttp2 recv error") || line.begins(with: "process_pending_input: nghttp2")
                || line.begins(with: "h2_process_pending_input: nghttp2")
        else { return false }
        inputWasRefused = true
        return true
    }

    /// Records that libcurl would have sent more of the request on a stream that the server has ended without an error,
    /// although no response was delivered, or none that is known to be complete.
    ///
    /// Over HTTP/1.1 libcurl does not drop the response.
    mutating func noteEnd(_ line: UnsafeRawBufferPointer) {
        guard number > 0, line.begins(with: "stream "), Self.number(in: line, after: 7) == number,
            Self.position(of: " closed", in: line) != nil
        else { return }
        answerWasDropped = true
        wantsHTTP1 = true
    }

    /// Records that the stream was refused, as the state of its connection shows.
    mutating func noteRefusal() { wasRefusedBySelf = true }

    /// Records that the stream was refused, unless it is unknown or the server has ended it otherwise.
    mutating func noteRefusalIfOpen() { if isKnown, !answerWasDropped { wasRefusedBySelf = true } }

    /// Reads a line of the log.
    ///
    /// - Parameter mayHideAnswer: whether the request has a body, and no response was delivered.
    /// - Returns: the last stream that the server has processed or will process, if the line has it. It applies to all
    ///   requests on the connection, but libcurl logs it only for the transfer for which it is reading.
    mutating func read(_ line: UnsafeRawBufferPointer, mayHideAnswer: Bool) -> Int? {
        if line.begins(with: "REFUSED_STREAM") {
            wasRefusedBySelf = true
        } else if line.begins(with: "HTTP/2 stream "), let stream = Self.number(in: line, after: 14) {
            // From 8.19 on, also for a reused connection, for which the line above is missing.
            if stream == number, Self.position(of: " refused by server", in: line) != nil { wasRefusedBySelf = true }
            if stream == number, mayHideAnswer, Self.position(of: " not closed cleanly: CANCEL", in: line) != nil {
                answerMayBeDropped = true
                wantsHTTP1 = true
            }
            if stream == number, CurlVersion.dropsEarlyAnswers, Self.position(of: " was reset", in: line) != nil {
                answerWasDropped = true
                wantsHTTP1 = true
            }
        } else if line.begins(with: "Using Stream ID: ") {
            number = Self.number(in: line, after: 17, isHex: CurlVersion.logsStreamsInHex) ?? 0
        } else if line.begins(with: "[HTTP/2] ["), Self.position(of: "] OPENED stream for ", in: line) != nil {
            // From 8.3 on.
            number = Self.number(in: line, after: 10) ?? 0
        } else if line.begins(with: "Downgrades to HTTP/1.1") {
            wantsHTTP1 = true
        } else if line.begins(with: "Connection died") {
            // Further lines are about another connection.
            isOver = true
        } else if !isOver, line.begins(with: "rec"), let position = Self.position(of: "GOAWAY, error=", in: line),
            let last = Self.position(of: "last_stream=", in: UnsafeRawBufferPointer(rebasing: line[position...]))
        {
            // HTTP_1_1_REQUIRED
            if Self.number(in: line, after: position) == 13 { wantsHTTP1 = true }
            return Self.number(in: line, after: position + last)
        }
        return nil
    }

    /// Returns the position after the first occurrence of a text.
    private static func position(of text: StaticString, in line: UnsafeRawBufferPointer) -> Int? {
        let size = text.utf8CodeUnitCount
        let wanted = UnsafeRawBufferPointer(start: text.utf8Start, count: size)
        guard line.count >= size else { return nil }
        return (0...(line.count - size))
            .first { line[$0..<$0 + size].elementsEqual(wanted) }
            .map { $0 + size }
    }

    private static func number(in line: UnsafeRawBufferPointer, after position: Int, isHex: Bool = false) -> Int? {
        let digits = line[position...].prefix { (0x30...0x39).contains($0) || isHex && (0x61...0x66).contains($0) }
        guard (1...10).contains(digits.count) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it begins with a text.
    ///
    /// `starts(with:)` would compare byte by byte.
    func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
