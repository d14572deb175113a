#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// What libcurl's notes say of the HTTP/2 stream that carries a request.
///
/// There is no other way to tell a request that the server has refused, and so not processed (RFC 9113 §8.7), from one
/// that was lost. A note that is missing, or worded in another way, leaves the request among those that were lost.
struct HTTP2StreamLog {
    /// The stream that the request is sent on; 0 where it is unknown.
    private var number = 0
    private var wasRefusedBySelf = false
    private var isOver = false
    /// Whether the server wants the request over HTTP/1.1 (RFC 9113 §7).
    private(set) var wantsHTTP1 = false
    /// Whether libcurl has dropped an answer that came before the server had the whole request (RFC 9113 §8.1).
    ///
    /// libcurl 7.88 does where the reset of the stream comes along with it.
    private(set) var answerWasDropped = false
    /// Whether nghttp2 has refused what arrived for the request, such as a head of too many frames.
    private(set) var inputWasRefused = false

    /// Whether the server said that it did not process the request, in so many words or by the last stream that it has
    /// processed of the connection.
    func wasRefused(lastProcessed: Int?) -> Bool {
        if wasRefusedBySelf { return true }
        guard let lastProcessed, number > 0 else { return false }
        return number > lastProcessed
    }

    /// Whether the request was sent on a stream of HTTP/2.
    var isKnown: Bool { number > 0 }

    /// Whether libcurl is about to look for another connection.
    static func givesUpConnection(_ note: UnsafeRawBufferPointer) -> Bool { note.begins(with: "Connection died") }

    /// Whether nghttp2 takes no more of what arrives on the connection, which is noted.
    mutating func refusesInput(_ note: UnsafeRawBufferPointer) -> Bool {
        guard
            note.begins(with: "nghttp2 recv error") || note.begins(with: "process_pending_input: nghttp2")
                || note.begins(with: "h2_process_pending_input: nghttp2")
        else { return false }
        inputWasRefused = true
        return true
    }

    /// Notes that libcurl would have sent more of the request on a stream that the server has ended without an error,
    /// although no answer was seen: over HTTP/1.1 the next one is not dropped.
    mutating func noteEnd(_ note: UnsafeRawBufferPointer) {
        guard number > 0, note.begins(with: "stream "), Self.number(in: note, after: 7) == number,
            Self.place(of: " closed", in: note) != nil
        else { return }
        answerWasDropped = true
        wantsHTTP1 = true
    }

    /// Notes that the stream was refused, as the state of its connection shows.
    mutating func noteRefusal() { wasRefusedBySelf = true }

    /// Notes that the stream was refused, unless it is unknown, or the server has ended it otherwise.
    mutating func noteRefusalIfOpen() { if isKnown, !answerWasDropped { wasRefusedBySelf = true } }

    /// Takes a note.
    ///
    /// - Returns: the last stream that the server has processed or will process, where the note says so. It is true of
    ///   all requests on the connection, but libcurl tells only the one for which it happens to read.
    mutating func read(_ note: UnsafeRawBufferPointer) -> Int? {
        if note.begins(with: "REFUSED_STREAM") {
            wasRefusedBySelf = true
        } else if note.begins(with: "HTTP/2 stream "), let stream = Self.number(in: note, after: 14) {
            // From 8.19 on, also of a reused connection, where the note above is missing.
            if stream == number, Self.place(of: " refused by server", in: note) != nil { wasRefusedBySelf = true }
            if stream == number, CurlVersion.dropsEarlyAnswers, Self.place(of: " was reset", in: note) != nil {
                answerWasDropped = true
                wantsHTTP1 = true
            }
        } else if note.begins(with: "Using Stream ID: ") {
            number = Self.number(in: note, after: 17, isHex: CurlVersion.notesStreamsInHex) ?? 0
        } else if note.begins(with: "[HTTP/2] ["), Self.place(of: "] OPENED stream for ", in: note) != nil {
            // From 8.3 on.
            number = Self.number(in: note, after: 10) ?? 0
        } else if note.begins(with: "Downgrades to HTTP/1.1") {
            wantsHTTP1 = true
        } else if note.begins(with: "Connection died") {
            // From here on libcurl looks for another connection, and what it reads is of that one.
            isOver = true
        } else if !isOver, note.begins(with: "rec"), let place = Self.place(of: "GOAWAY, error=", in: note),
            let last = Self.place(of: "last_stream=", in: UnsafeRawBufferPointer(rebasing: note[place...]))
        {
            // HTTP_1_1_REQUIRED
            if Self.number(in: note, after: place) == 13 { wantsHTTP1 = true }
            return Self.number(in: note, after: place + last)
        }
        return nil
    }

    /// The place after the first occurrence of a text.
    private static func place(of text: StaticString, in note: UnsafeRawBufferPointer) -> Int? {
        let size = text.utf8CodeUnitCount
        let wanted = UnsafeRawBufferPointer(start: text.utf8Start, count: size)
        guard note.count >= size else { return nil }
        return (0...(note.count - size))
            .first { note[$0..<$0 + size].elementsEqual(wanted) }
            .map { $0 + size }
    }

    private static func number(in note: UnsafeRawBufferPointer, after place: Int, isHex: Bool = false) -> Int? {
        let digits = note[place...].prefix { (0x30...0x39).contains($0) || isHex && (0x61...0x66).contains($0) }
        guard (1...10).contains(digits.count) else { return nil }
        return Int(String(decoding: digits, as: UTF8.self), radix: isHex ? 16 : 10)
    }
}

extension UnsafeRawBufferPointer {
    /// Whether it begins with a text; as sequences the two would be compared byte by byte.
    func begins(with text: StaticString) -> Bool {
        guard count >= text.utf8CodeUnitCount, let baseAddress else { return false }
        return memcmp(baseAddress, text.utf8Start, text.utf8CodeUnitCount) == 0
    }
}
