internal import RefrainHTTP

/// The fields of a proxy's last answer to CONNECT, which libcurl hands over before anything is sent to the server.
struct ProxyHead {
    private(set) var headers = HTTPHeaders()

    /// Takes a line; what is none of a head is left out.
    mutating func read(_ raw: UnsafeBufferPointer<UInt8>) {
        let line = HeadReader.withoutEnd(raw)
        // A proxy that wants to know who asks is asked again, on the same connection.
        if HeadReader.isStatusLine(line) { headers = HTTPHeaders() }
        guard headers.count < HeadReader.maximumLines else { return }
        guard let colon = line.firstIndex(of: UInt8(ascii: ":")) else { return }
        let name = String(decoding: line[..<colon], as: UTF8.self)
        guard HTTPToken.isValid(name) else { return }
        headers.add(name, bytes: HeadReader.trimmed(line, from: colon + 1))
    }
}
