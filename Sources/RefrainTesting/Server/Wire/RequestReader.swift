#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#else
internal import Darwin
#endif

/// Reads requests from a connection through one buffer of fixed size.
final class RequestReader {
    /// The maximum size of a request's head in bytes.
    static let headLimit = 65_536
    /// The maximum number of body bytes stored; digest and length cover the complete body.
    static let keptBody = 16 * 1024 * 1024

    enum Head {
        case head(RequestHead)
        case malformed(RequestHead.Malformed)
        case end
    }

    enum BodyEnd {
        case complete
        case cut
        case malformed
    }

    private let descriptor: Int32
    private let buffer = UnsafeMutablePointer<UInt8>.allocate(capacity: headLimit)
    private var start = 0
    private var end = 0
    /// The body of the current request, as far as it is stored.
    private(set) var body: [UInt8] = []
    private(set) var bodyLength = 0
    private var digest = SHA256()

    init(_ descriptor: Int32) { self.descriptor = descriptor }

    deinit { buffer.deallocate() }

    /// The digest of the body in hexadecimal.
    func bodyDigest() -> String { bodyLength == 0 ? SHA256.ofNothing : Hex.text(of: digest.finish()) }

    /// Reads up to the empty line, inclusive; CRLF and LF both end a line (RFC 9112 §2.2).
    func readHead() -> Head {
        body = []
        bodyLength = 0
        var scanned = 0
        var lines: [Range<Int>] = []
        while true {
            if start < end, buffer[start] < 33, buffer[start] != 10, buffer[start] != 13 {
                // Rejected without waiting, because a TLS handshake, for example, contains no empty line.
                return .malformed(.init(reason: "not HTTP"))
            }
            while let found = memchr(buffer + start + scanned, 10, end - start - scanned) {
                let lineStart = scanned
                var lineEnd = found - UnsafeMutableRawPointer(buffer + start)
                scanned = lineEnd + 1
                if lineEnd > lineStart, buffer[start + lineEnd - 1] == 13 { lineEnd -= 1 }
                if lineEnd > lineStart {
                    lines.append(lineStart..<lineEnd)
                } else if !lines.isEmpty {
                    let base = UnsafePointer(buffer + start)
                    start += scanned
                    do throws(RequestHead.Malformed) {
                        return .head(
                            try RequestHead(
                                lines: lines.map { UnsafeBufferPointer(start: base + $0.lowerBound, count: $0.count) }
                            )
                        )
                    } catch {
                        return .malformed(error)
                    }
                }
            }
            if end - start == Self.headLimit {
                return .malformed(.init(status: 431, reason: "request head over 64 KB"))
            }
            guard fill() else { return .end }
        }
    }

    /// Reads a body and computes its digest.
    func readBody(_ framing: RequestHead.Framing) -> BodyEnd {
        digest = SHA256()
        switch framing {
        case .none: return .complete
        case .length(let length): return take(length) ? .complete : .cut
        case .chunked: return readChunks()
        }
    }

    /// Reads and discards data for at most `milliseconds`; returns `true` if the client closed the connection.
    func drain(milliseconds: Int32) -> Bool {
        start = 0
        end = 0
        let deadline = ServerTime.monotonic() + Double(milliseconds) / 1000
        while true {
            let left = deadline - ServerTime.monotonic()
            guard milliseconds < 0 || left > 0 else { return false }
            var wait = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            let ready = poll(&wait, 1, milliseconds < 0 ? -1 : Int32(left * 1000) + 1)
            if ready < 0, errno == EINTR { continue }
            guard ready > 0 else { return ready < 0 }
            let count = recv(descriptor, buffer, Self.headLimit, 0)
            if count < 0, errno == EINTR { continue }
            if count <= 0 { return true }
        }
    }

    private func readChunks() -> BodyEnd {
        while true {
            guard let line = readLine() else { return .cut }
            let text = line.prefix { $0 != UInt8(ascii: ";") && $0 != 32 && $0 != 9 }
            // At most 15 digits, so that no chunk size overflows.
            guard (1...15).contains(text.count), let size = Int(String(decoding: text, as: UTF8.self), radix: 16),
                size >= 0, text.first != UInt8(ascii: "+")
            else { return .malformed }
            if size == 0 { break }
            guard take(size) else { return .cut }
            guard let ending = readLine() else { return .cut }
            guard ending.isEmpty else { return .malformed }
        }
        var trailers = 0
        while let line = readLine() {
            if line.isEmpty { return .complete }
            trailers += line.count
            if trailers > Self.headLimit { return .malformed }
        }
        return .cut
    }

    /// Appends `count` bytes of content to the body.
    private func take(_ count: Int) -> Bool {
        var left = count
        while left > 0 {
            if start == end, !fill() { return false }
            let size = min(left, end - start)
            let bytes = UnsafeRawBufferPointer(start: buffer + start, count: size)
            digest.update(bytes)
            let room = Self.keptBody - body.count
            if room > 0 { body.append(contentsOf: bytes.prefix(room)) }
            bodyLength += size
            start += size
            left -= size
        }
        return true
    }

    /// A line without its line break; `nil` if the connection ends or the line exceeds the buffer.
    private func readLine() -> [UInt8]? {
        while true {
            if let found = memchr(buffer + start, 10, end - start) {
                let length = found - UnsafeMutableRawPointer(buffer + start)
                var line = Array(UnsafeBufferPointer(start: buffer + start, count: length))
                start += length + 1
                if line.last == 13 { line.removeLast() }
                return line
            }
            guard end - start < Self.headLimit, fill() else { return nil }
        }
    }

    /// Reads once; returns `false` at the end of the connection.
    private func fill() -> Bool {
        if start == end {
            start = 0
            end = 0
        } else if end == Self.headLimit {
            memmove(buffer, buffer + start, end - start)
            end -= start
            start = 0
        }
        while true {
            let count = recv(descriptor, buffer + end, Self.headLimit - end, 0)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return false }
            end += count
            return true
        }
    }
}
