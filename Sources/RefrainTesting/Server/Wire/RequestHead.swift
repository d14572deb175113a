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
