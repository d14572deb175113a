internal import CurlShim
internal import RefrainHTTP

extension EasyHandle {
    /// The key of the connection, and its local port; nil without a connection.
    var connectionKey: (UInt64, Int32)? {
        guard let address = refrain_get_pointer(easy, CURLINFO_PRIMARY_IP) else { return nil }
        if let key = transfer?.keyWithoutPorts { return (key, 0) }
        let port = Int32(truncatingIfNeeded: refrain_get_long(easy, CURLINFO_LOCAL_PORT))
        let key = ConnectionTable.key(
            remoteAddress: address.assumingMemoryBound(to: CChar.self),
            remotePort: Int32(truncatingIfNeeded: refrain_get_long(easy, CURLINFO_PRIMARY_PORT)),
            localPort: port
        )
        return (key, port)
    }

    /// Reads the addresses and times of the exchange so far.
    func connectionFacts(isTLS: Bool) -> ConnectionFacts {
        func time(_ info: CURLINFO) -> Duration { .microseconds(refrain_get_offset(easy, info)) }
        func text(_ info: CURLINFO) -> String {
            refrain_get_pointer(easy, info).map { String(cString: $0.assumingMemoryBound(to: CChar.self)) } ?? ""
        }
        var facts = ConnectionFacts()
        facts.nameLookup = time(CURLINFO_NAMELOOKUP_TIME_T)
        facts.connect = time(CURLINFO_CONNECT_TIME_T)
        facts.handshake = isTLS ? time(CURLINFO_APPCONNECT_TIME_T) : nil
        facts.preTransfer = time(CURLINFO_PRETRANSFER_TIME_T)
        facts.firstByte = time(CURLINFO_STARTTRANSFER_TIME_T)
        facts.remoteAddress = text(CURLINFO_PRIMARY_IP)
        facts.remotePort = refrain_get_long(easy, CURLINFO_PRIMARY_PORT)
        facts.localAddress = text(CURLINFO_LOCAL_IP)
        facts.localPort = refrain_get_long(easy, CURLINFO_LOCAL_PORT)
        facts.proxyStatus = refrain_get_long(easy, CURLINFO_HTTP_CONNECTCODE)
        facts.uploadSize = refrain_get_offset(easy, CURLINFO_SIZE_UPLOAD_T)
        return facts
    }
}
