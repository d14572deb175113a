internal import CurlShim
internal import RefrainHTTP

// The callbacks of libcurl, called on the thread that drives the loop. Each finds its transfer through the handle's
// slot.

private func transfer(of user: UnsafeMutableRawPointer?) -> Transfer? {
    guard let user else { return nil }
    return Unmanaged<EasyHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.transfer }
}

/// The same for frequent callbacks; the slot retains the transfer until libcurl has released it.
@inline(__always)
private func serve(
    _ user: UnsafeMutableRawPointer?,
    _ body: (Transfer, EasyHandle) -> Int
) -> Int {
    guard let user else { return 0 }
    return Unmanaged<EasyHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { slot in
        guard let served = slot.served else { return 0 }
        return served._withUnsafeGuaranteedRef { body($0, slot) }
    }
}

/// One line of a head, or a trailer.
func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count).assumingMemoryBound(to: UInt8.self)
    return serve(user) { transfer, slot in transfer.receiveHeader(line, by: slot) ? line.count : 0 }
}

/// A piece of the body.
func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return serve(user) { transfer, _ in transfer.receiveBody(piece) }
}

/// libcurl wants more of the request's body.
func readBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let transfer = transfer(of: user) else { return Int(CURL_READFUNC_ABORT) }
    return transfer.readBody(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}

/// The connection stands, and the request is sent next.
func willSend(
    _ user: UnsafeMutableRawPointer?,
    _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32,
    _ localPort: Int32
) -> Int32 {
    guard let transfer = transfer(of: user), let remoteAddress else { return Int32(CURL_PREREQFUNC_ABORT) }
    let key = ConnectionTable.key(remoteAddress: remoteAddress, remotePort: remotePort, localPort: localPort)
    guard transfer.willSend(on: key, localPort: localPort) else { return Int32(CURL_PREREQFUNC_ABORT) }
    return Int32(CURL_PREREQFUNC_OK)
}

/// The address of a name is looked for; refused where its transfer has ended.
func beginLookup(
    _ resolver: UnsafeMutableRawPointer?,
    _ reserved: UnsafeMutableRawPointer?,
    _ user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let transfer = transfer(of: user) else { return 1 }
    transfer.isLookingUp = true
    return 0
}

/// A connection is needed; refused where it could only serve to send again.
func openSocket(
    _ user: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = transfer(of: user), let address, !transfer.needsOtherConnection, transfer.mayResend() else {
        return CURL_SOCKET_BAD
    }
    return transfer.openSocket(to: address)
}

/// Something has happened; only called for transfers whose body ends with the connection, over TLS.
func noteProgress(
    _ user: UnsafeMutableRawPointer?,
    _ downloadSize: curl_off_t,
    _ downloaded: curl_off_t,
    _ uploadSize: curl_off_t,
    _ uploaded: curl_off_t
) -> Int32 {
    if let transfer = transfer(of: user), let slot = transfer.slot {
        let wasEnded = refrain_tls_was_ended(slot.easy)
        // After the end libcurl has released the TLS session and reports nothing about it.
        if wasEnded >= 0 { transfer.endOfTLSIsMissing = wasEnded == 0 }
    }
    return 0
}

/// One of libcurl's notes.
///
/// Of interest is only what the server did not process, and the key that it has shown.
func receiveNote(
    _ easy: UnsafeMutableRawPointer?,
    _ kind: curl_infotype,
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int32 {
    let note = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)
    guard kind == CURLINFO_TEXT else {
        guard kind == CURLINFO_HEADER_OUT || kind == CURLINFO_DATA_OUT, let transfer = transfer(of: user) else {
            return 0
        }
        transfer.notedSize += Int64(count)
        if kind == CURLINFO_HEADER_OUT, !CurlVersion.announcesRequests { transfer.noteUnannouncedHead(note) }
        return 0
    }
    if !CurlVersion.announcesRequests { transfer(of: user)?.noteUnannounced(note) }
    // The first letters of the notes; all others are left at once.
    switch note.first {
    case UInt8(ascii: "C"), UInt8(ascii: "D"), UInt8(ascii: "H"), UInt8(ascii: "R"), UInt8(ascii: "U"),
        UInt8(ascii: "["), UInt8(ascii: "r"):
        guard let transfer = transfer(of: user) else { break }
        if HTTP2StreamLog.givesUpConnection(note) { transfer.noteRefusalOnReusedConnection() }
        if let last = transfer.stream.read(note) { transfer.connection?.lastProcessed = last }
    case UInt8(ascii: "s"):
        if let transfer = transfer(of: user), !transfer.head.hasBegun { transfer.stream.noteEnd(note) }
    case UInt8(ascii: " "): transfer(of: user)?.noteKey(note)
    // Before 7.78.
    case UInt8(ascii: "\t"): transfer(of: user)?.noteKey(UnsafeRawBufferPointer(rebasing: note.dropFirst()))
    case UInt8(ascii: "h"), UInt8(ascii: "n"), UInt8(ascii: "p"):
        // Some versions keep this connection for the next request, which would fail at once (7.76, 8.20) or wait for
        // its answer in vain (8.7).
        guard transfer(of: user)?.stream.refusesInput(note) ?? false else { break }
        refrain_set_long(easy, CURLOPT_FORBID_REUSE, 1)
    default: break
    }
    return 0
}
