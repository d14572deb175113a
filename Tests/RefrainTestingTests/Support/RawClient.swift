// SPDX-License-Identifier: Apache-2.0
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// A client that knows nothing of HTTP but what a test needs, so that no library repairs what a server does.
final class RawClient {
    enum End: Equatable {
        case fin
        case reset
        case timeout
        case limit
    }

    struct Unreachable: Error, Equatable { var code: Int32 }

    let descriptor: Int32
    private var buffer: [UInt8] = []

    init(_ port: UInt16, timeoutMilliseconds: Int = 90_000) throws {
        #if canImport(Darwin)
        descriptor = socket(AF_INET, SOCK_STREAM, 0)
        #else
        // A process that another test starts must not keep the connection open.
        descriptor = socket(AF_INET, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
        #endif
        var timeout = timeval(tv_sec: timeoutMilliseconds / 1000, tv_usec: .init(timeoutMilliseconds % 1000 * 1000))
        setsockopt(descriptor, SOL_SOCKET, SO_RCVTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        setsockopt(descriptor, SOL_SOCKET, SO_SNDTIMEO, &timeout, socklen_t(MemoryLayout<timeval>.size))
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_port = port.bigEndian
        address.sin_addr = in_addr(s_addr: UInt32(0x7F00_0001).bigEndian)
        let result = withUnsafePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
                connect(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size))
            }
        }
        guard result == 0 else { throw Unreachable(code: errno) }
    }

    deinit { close(descriptor) }

    @discardableResult
    func send(_ text: String) -> Bool { send(Array(text.utf8)) }

    @discardableResult
    func send(_ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        let flags = Int32(MSG_NOSIGNAL)
        #endif
        var sent = 0
        while sent < bytes.count {
            let count = bytes.withUnsafeBytes { raw in
                guard let base = raw.baseAddress else { return 0 }
                #if canImport(Glibc)
                return Glibc.send(descriptor, base + sent, raw.count - sent, flags)
                #elseif canImport(Musl)
                return Musl.send(descriptor, base + sent, raw.count - sent, flags)
                #else
                return Darwin.send(descriptor, base + sent, raw.count - sent, flags)
                #endif
            }
            guard count > 0 else { return false }
            sent += count
        }
        return true
    }

    func request(
        _ target: String,
        method: String = "GET",
        headers: [String] = [],
        body: String? = nil
    ) {
        var text = "\(method) \(target) HTTP/1.1\r\nHost: test\r\n"
        for header in headers { text += header + "\r\n" }
        if let body { text += "Content-Length: \(body.utf8.count)\r\n" }
        send(text + "\r\n" + (body ?? ""))
    }

    /// Ends the sending side.
    func finishSending() { shutdown(descriptor, Int32(SHUT_WR)) }

    /// Everything up to the end of the connection.
    func readAll(limit: Int = .max) -> (bytes: [UInt8], end: End) {
        var all = buffer
        buffer = []
        while all.count < limit {
            switch receive() {
            case .success(let bytes): all += bytes
            case .failure(let failure): return (all, failure.end)
            }
        }
        return (all, .limit)
    }

    /// One response by its own framing; what comes after it stays for the next call.
    func response(toHead: Bool = false) -> RawResponse? {
        while true {
            if let (response, used) = RawResponse.parse(buffer, hasBody: !toHead) {
                buffer.removeFirst(used)
                return response
            }
            guard case .success(let bytes) = receive() else { return nil }
            buffer += bytes
        }
    }

    private struct Failure: Error { var end: End }

    private func receive() -> Result<[UInt8], Failure> {
        var chunk = [UInt8](repeating: 0, count: 65_536)
        let count = recv(descriptor, &chunk, chunk.count, 0)
        if count > 0 { return .success(Array(chunk[..<count])) }
        if count == 0 { return .failure(Failure(end: .fin)) }
        return .failure(Failure(end: errno == EAGAIN || errno == EWOULDBLOCK ? .timeout : .reset))
    }
}

struct RawResponse {
    var status: Int
    var headers: [(String, String)]
    var body: [UInt8]

    var text: String { String(decoding: body, as: UTF8.self) }

    subscript(name: String) -> String? {
        headers.first { $0.0.lowercased() == name.lowercased() }?.1
    }

    /// Where the empty line begins that ends the headers.
    static func endOfHead(_ bytes: [UInt8]) -> Int? {
        bytes.withUnsafeBufferPointer { bytes in
            var index = 0
            while index + 3 < bytes.count {
                if bytes[index + 3] == 10, bytes[index + 1] == 10, bytes[index] == 13, bytes[index + 2] == 13 {
                    return index
                }
                index += 1
            }
            return nil
        }
    }

    /// A complete response at the start of `bytes`, and how many bytes it takes.
    static func parse(_ bytes: [UInt8], hasBody: Bool = true) -> (RawResponse, Int)? {
        guard let headEnd = endOfHead(bytes) else { return nil }
        let lines = String(decoding: bytes[..<headEnd], as: UTF8.self).split(separator: "\r\n")
        let words = lines[0].split(separator: " ")
        guard words.count >= 2, words[0] == "HTTP/1.1", let status = Int(words[1]) else { return nil }
        var response = RawResponse(status: status, headers: [], body: [])
        for line in lines.dropFirst() {
            guard let colon = line.firstIndex(of: ":") else { return nil }
            response.headers.append((String(line[..<colon]), String(line[line.index(colon, offsetBy: 2)...])))
        }
        var position = headEnd + 4
        guard hasBody, status >= 200, status != 204, status != 304 else { return (response, position) }
        if response["Transfer-Encoding"] == "chunked" {
            while true {
                guard let lineEnd = bytes[position...].firstIndex(of: 10), lineEnd > position else { return nil }
                guard let size = Int(String(decoding: bytes[position..<(lineEnd - 1)], as: UTF8.self), radix: 16)
                else { return nil }
                guard bytes.count >= lineEnd + 1 + size + 2 else { return nil }
                response.body += bytes[(lineEnd + 1)..<(lineEnd + 1 + size)]
                position = lineEnd + 1 + size + 2
                if size == 0 { return (response, position) }
            }
        }
        guard let length = response["Content-Length"].flatMap({ Int($0) }), bytes.count >= position + length else {
            return nil
        }
        response.body = Array(bytes[position..<(position + length)])
        return (response, position + length)
    }
}

extension RawClient {
    /// The whole response to one request on a connection of its own.
    static func fetch(
        _ server: UInt16,
        _ target: String,
        method: String = "GET",
        headers: [String] = [],
        body: String? = nil,
        timeoutMilliseconds: Int = 90_000
    ) throws -> RawResponse? {
        let client = try RawClient(server, timeoutMilliseconds: timeoutMilliseconds)
        client.request(target, method: method, headers: headers, body: body)
        return client.response(toHead: method == "HEAD")
    }

    /// All bytes of one connection on which one request was sent.
    static func exchange(
        _ server: UInt16,
        _ target: String,
        method: String = "GET",
        timeoutMilliseconds: Int = 90_000,
        limit: Int = .max
    ) throws -> (bytes: [UInt8], end: End) {
        let client = try RawClient(server, timeoutMilliseconds: timeoutMilliseconds)
        client.request(target, method: method, headers: ["Connection: close"])
        return client.readAll(limit: limit)
    }
}
