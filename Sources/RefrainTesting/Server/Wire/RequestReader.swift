// SPDX-License-Identifier: Apache-2.0
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
    private static let headLimit = 65_536
    /// The maximum number of body bytes stored; digest and length cover the complete body.
    private static let keptBody = 16 * 1024 * 1024

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

/// A well-formed request line with its header fields (RFC 9112 §2 to §6).
struct RequestHead: Sendable {
    /// How the request's body is framed.
    enum Framing: Sendable, Equatable {
        case none
        case length(Int)
        case chunked
    }

    var method: String
    var target: String
    var isHTTP11: Bool
    var headers: [(name: String, value: String)]
    var framing: Framing
    var keepsAlive: Bool
    var expectsContinue: Bool

    /// A request that is rejected with this status before its path is evaluated.
    struct Malformed: Error {
        var status = 400
        var reason: String
    }

    init(lines: [UnsafeBufferPointer<UInt8>]) throws(Malformed) {
        guard let first = lines.first else { throw Malformed(reason: "empty request") }
        let parts = first.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
        guard parts.count == 3, Self.isToken(parts[0]), !parts[1].isEmpty, parts[1].allSatisfy({ $0 > 32 && $0 != 127 })
        else { throw Malformed(reason: "bad request line") }
        let version = String(decoding: parts[2], as: UTF8.self)
        guard version == "HTTP/1.1" || version == "HTTP/1.0" else {
            throw Malformed(status: version.hasPrefix("HTTP/") ? 505 : 400, reason: "not HTTP/1.1")
        }
        method = String(decoding: parts[0], as: UTF8.self)
        target = Self.originForm(String(decoding: parts[1], as: UTF8.self))
        isHTTP11 = version == "HTTP/1.1"
        headers = []
        headers.reserveCapacity(lines.count - 1)
        for line in lines.dropFirst() { headers.append(try Self.header(line)) }
        framing = .none
        keepsAlive = isHTTP11
        expectsContinue = false
        try interpret()
    }

    private mutating func interpret() throws(Malformed) {
        var length: Int?
        var isChunked = false
        for (name, value) in headers {
            switch name.utf8.count {
            case 6 where name.equalsIgnoringCase("expect"):
                expectsContinue = isHTTP11 && value.equalsIgnoringCase("100-continue")
            case 10 where name.equalsIgnoringCase("connection"):
                let options = value.split { $0 == "," || $0 == " " || $0 == "\t" }.map(String.init)
                if options.contains(where: { $0.equalsIgnoringCase("close") }) {
                    keepsAlive = false
                } else if options.contains(where: { $0.equalsIgnoringCase("keep-alive") }) {
                    keepsAlive = true
                }
            case 14 where name.equalsIgnoringCase("content-length"):
                guard !value.isEmpty, value.utf8.allSatisfy({ (48...57).contains($0) }), let number = Int(value),
                    length == nil || length == number
                else { throw Malformed(reason: "bad Content-Length") }
                length = number
            case 17 where name.equalsIgnoringCase("transfer-encoding"):
                guard value.equalsIgnoringCase("chunked"), !isChunked else {
                    throw Malformed(status: 501, reason: "unknown Transfer-Encoding")
                }
                isChunked = true
            default: break
            }
        }
        if isChunked {
            // A message with both fields may be request smuggling (RFC 9112 §6.1).
            guard length == nil else { throw Malformed(reason: "Content-Length with Transfer-Encoding") }
            framing = .chunked
        } else if let length, length > 0 {
            framing = .length(length)
        }
    }

    private static func header(_ line: UnsafeBufferPointer<UInt8>) throws(Malformed) -> (name: String, value: String) {
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")), isToken(line[..<colon]) else {
            throw Malformed(reason: "bad header line")
        }
        var value = line[(colon + 1)...]
        while let byte = value.first, byte == 32 || byte == 9 { value.removeFirst() }
        while let byte = value.last, byte == 32 || byte == 9 { value.removeLast() }
        guard !value.contains(0), !value.contains(13) else { throw Malformed(reason: "bad header value") }
        return (String(decoding: line[..<colon], as: UTF8.self), String(decoding: value, as: UTF8.self))
    }

    private static func isToken(_ bytes: Slice<UnsafeBufferPointer<UInt8>>) -> Bool {
        guard !bytes.isEmpty else { return false }
        for byte in bytes {
            switch byte {
            case 48...57, 65...90, 97...122: continue
            case 33, 35...39, 42, 43, 45, 46, 94...96, 124, 126: continue
            default: return false
            }
        }
        return true
    }

    /// The path and query of a target in absolute form (RFC 9112 §3.2.2).
    private static func originForm(_ target: String) -> String {
        guard target.utf8.first != UInt8(ascii: "/"), target.hasPrefix("http://") else { return target }
        let rest = target.dropFirst(7)
        guard let path = rest.firstIndex(where: { $0 == "/" || $0 == "?" }) else { return "/" }
        return rest[path] == "/" ? String(rest[path...]) : "/" + rest[path...]
    }
}
