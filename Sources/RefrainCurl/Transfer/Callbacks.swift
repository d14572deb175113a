// SPDX-License-Identifier: Apache-2.0
internal import CurlShim
internal import RefrainHTTP

// The callbacks of libcurl, called on the thread of the loop's owner. `user` is the `EasyHandle`, which has the
// transfer.

private func transfer(of user: UnsafeMutableRawPointer?) -> Transfer? {
    guard let user else { return nil }
    return Unmanaged<EasyHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.transfer }
}

/// Calls `body` with the transfer and its handle, without reference counting, for frequent callbacks.
///
/// The handle retains the transfer until libcurl has released the handle.
private func serve(
    _ user: UnsafeMutableRawPointer?,
    _ body: (Transfer, EasyHandle) -> Int
) -> Int {
    guard let user else { return 0 }
    return Unmanaged<EasyHandle>.fromOpaque(user)._withUnsafeGuaranteedRef { handle in
        guard let served = handle.served else { return 0 }
        return served._withUnsafeGuaranteedRef { body($0, handle) }
    }
}

/// Receives a line of a head, or a trailer.
func receiveHeader(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes else { return 0 }
    let line = UnsafeRawBufferPointer(start: bytes, count: size * count).assumingMemoryBound(to: UInt8.self)
    return serve(user) { transfer, handle in transfer.receiveHeader(line, by: handle) ? line.count : 0 }
}

/// Receives a piece of the body.
func receiveBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes else { return 0 }
    let piece = UnsafeRawBufferPointer(start: bytes, count: size * count)
    return serve(user) { transfer, handle in transfer.receiveBody(piece, by: handle) }
}

/// Supplies a piece of the request's body.
func readBody(
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ size: Int,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int {
    guard let bytes, let transfer = transfer(of: user) else { return Int(CURL_READFUNC_ABORT) }
    return transfer.readBody(into: UnsafeMutableRawBufferPointer(start: bytes, count: size * count))
}

/// Called when the connection is established, immediately before the request is sent.
func willSend(
    _ user: UnsafeMutableRawPointer?,
    _ remoteAddress: UnsafeMutablePointer<CChar>?,
    _ localAddress: UnsafeMutablePointer<CChar>?,
    _ remotePort: Int32,
    _ localPort: Int32
) -> Int32 {
    guard let transfer = transfer(of: user), let remoteAddress else { return Int32(CURL_PREREQFUNC_ABORT) }
    let key =
        transfer.keyWithoutPorts
        ?? ConnectionTable.key(remoteAddress: remoteAddress, remotePort: remotePort, localPort: localPort)
    guard transfer.willSend(on: key, localPort: localPort) else { return Int32(CURL_PREREQFUNC_ABORT) }
    return Int32(CURL_PREREQFUNC_OK)
}

/// Called before a name is resolved; refuses that if the transfer has ended.
func beginLookup(
    _ resolver: UnsafeMutableRawPointer?,
    _ reserved: UnsafeMutableRawPointer?,
    _ user: UnsafeMutableRawPointer?
) -> Int32 {
    guard let transfer = transfer(of: user) else { return 1 }
    transfer.noteLookup()
    return 0
}

/// Opens the socket of a connection.
func openSocket(
    _ user: UnsafeMutableRawPointer?,
    _ purpose: curlsocktype,
    _ address: UnsafeMutablePointer<curl_sockaddr>?
) -> curl_socket_t {
    guard let transfer = transfer(of: user), let address else { return CURL_SOCKET_BAD }
    return transfer.openSocket(to: address)
}

/// Closes a socket; `user` is the `LoopIteration`, because a connection outlives the handle that has made it.
func closeSocket(_ user: UnsafeMutableRawPointer?, _ socket: curl_socket_t) -> Int32 {
    if let user {
        Unmanaged<LoopIteration>.fromOpaque(user)._withUnsafeGuaranteedRef { $0.noteClosed(socket) }
    }
    return refrain_close_socket(socket)
}

/// Called on progress, only for transfers over TLS whose body ends with the connection.
func noteProgress(
    _ user: UnsafeMutableRawPointer?,
    _ downloadSize: curl_off_t,
    _ downloaded: curl_off_t,
    _ uploadSize: curl_off_t,
    _ uploaded: curl_off_t
) -> Int32 {
    if let transfer = transfer(of: user), let handle = transfer.handle {
        let wasEnded = refrain_tls_was_ended(handle.easy)
        // After the end libcurl has released the TLS session and reports nothing about it.
        if wasEnded >= 0 { transfer.noteEndOfTLS(isMissing: wasEnded == 0) }
    }
    return 0
}

/// Passes what is sent and received to the observer of the request.
private func pass(_ bytes: UnsafeRawBufferPointer, _ kind: curl_infotype, _ user: UnsafeMutableRawPointer?) {
    guard let user, let observer = Unmanaged<EasyHandle>.fromOpaque(user).takeUnretainedValue().wireObserver else {
        return
    }
    switch kind {
    case CURLINFO_TEXT:
        observer(.note(String(decoding: bytes.last == 0x0A ? bytes.dropLast() : bytes[...], as: UTF8.self)))
    case CURLINFO_HEADER_OUT: observer(.requestHead(Array(bytes)))
    case CURLINFO_HEADER_IN: observer(.responseHead(Array(bytes)))
    default: break
    }
}

/// Receives a line of libcurl's verbose log, or data that it has sent or received.
func receiveVerboseLog(
    _ easy: UnsafeMutableRawPointer?,
    _ kind: curl_infotype,
    _ bytes: UnsafeMutablePointer<CChar>?,
    _ count: Int,
    _ user: UnsafeMutableRawPointer?
) -> Int32 {
    let bytes = UnsafeRawBufferPointer(start: bytes, count: bytes == nil ? 0 : count)
    pass(bytes, kind, user)
    guard let transfer = transfer(of: user) else { return 0 }
    switch kind {
    case CURLINFO_TEXT: transfer.readLog(bytes)
    case CURLINFO_DATA_IN: transfer.readReceived(bytes)
    case CURLINFO_HEADER_OUT: transfer.readSent(bytes, isHead: true)
    case CURLINFO_DATA_OUT: transfer.readSent(bytes, isHead: false)
    default: break
    }
    return 0
}
