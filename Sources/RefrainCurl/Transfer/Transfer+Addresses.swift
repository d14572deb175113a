internal import CurlShim
internal import RefrainHTTP

extension Transfer {
    /// Whether to connect to an address now; one that failed recently is tried after all others (rule R33).
    func mayConnect(to address: AddressKey) -> Bool {
        if triesAllAddresses { return !failedHere.contains(address) }
        guard iteration.failedAddresses.contains(address, now: iteration.now) else { return true }
        hasLeftOutAddress = true
        return false
    }

    /// Whether the policy allows a connection to the address to which libcurl is about to connect.
    func policyAllows(_ address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let policy = handle?.settings.destinations, !policy.allowsAll else { return true }
        guard policy.allows(AddressKey.bytes(of: address)) else {
            policyRefused = true
            return false
        }
        return true
    }

    /// Records the addresses that were tried, if the transfer failed to connect; returns whether any was tried.
    func noteFailedConnect(_ code: HTTPError.Code) -> Bool {
        guard sends == 0, code == .cannotConnectToHost || code == .notConnectedToInternet || code == .timedOut else {
            return false
        }
        let hasTried = !opened.isEmpty || hasLeftOutAddress
        noteFailedAddresses(timedOut: code == .timedOut)
        return hasTried
    }

    /// Records the addresses that were tried so far as failed.
    func noteFailedAddresses(timedOut: Bool) {
        for address in opened.failed(timedOut: timedOut, now: iteration.now) {
            failedHere.append(address)
            iteration.failedAddresses.note(address, now: iteration.now)
        }
        opened.removeAll()
    }

    /// Opens a socket for libcurl, unless the address is excluded.
    func openSocket(to address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        let key = AddressKey(address)
        if isLookingUp {
            isLookingUp = false
            handle?.endLookup(self)
        }
        guard handle?.settings.allowsFamily(of: address) != false, mayConnect(to: key), policyAllows(address) else {
            return CURL_SOCKET_BAD
        }
        let socket = refrain_open_socket(address)
        refrain_watch_add(iteration.watch, socket)
        noteConnecting()
        opened.append(socket, to: key, now: iteration.now, timeLeft: timeToConnect)
        iteration.nextLimit = min(iteration.nextLimit, opened.nextCheck)
        return socket
    }

    /// Records and returns the connection that was made for this transfer.
    func newConnection(_ key: UInt64, localPort: Int32) -> OpenConnection? {
        defer { opened.removeAll() }
        let opened = opened.entries
        // If a name has several addresses, several sockets may have been opened.
        let usesUnixSocket = handle?.settings.usesUnixSocket == true
        guard let index = opened.lastIndex(where: { usesUnixSocket || refrain_local_port($0.socket) == localPort })
        else {
            iteration.connections.forget(key)
            return nil
        }
        let made = opened[index]
        iteration.failedAddresses.forget(made.address)
        // libcurl tries the addresses of a family one after the other, and both families at the same time (RFC 8305):
        // an address of the other family was only slower.
        for other in opened[..<index] where other.address.isIPv6 == made.address.isIPv6 {
            iteration.failedAddresses.note(other.address, now: iteration.now)
        }
        return iteration.connections.note(key, socket: made.socket)
    }

    /// The key of the connection if its addresses have no ports; nil for all others.
    var keyWithoutPorts: UInt64? {
        guard let handle, handle.settings.usesUnixSocket else { return nil }
        let number = CurlVersion.logsConnectionNumbers ? connectionNumber : refrain_connection_number(handle.easy)
        return ConnectionTable.key(number: number ?? -1)
    }

    /// Reads the number of the connection from a line of the verbose log, for connections without ports.
    func readConnectionNumber(_ line: UnsafeRawBufferPointer) {
        guard handle?.settings.usesUnixSocket == true, CurlVersion.logsConnectionNumbers,
            line.begins(with: "Connected to ") || line.begins(with: "Re-using existing connection"),
            let mark = line.lastIndex(of: UInt8(ascii: "#"))
        else { return }
        let digits = line[(mark + 1)...].prefix { (0x30...0x39).contains($0) }
        connectionNumber = Int64(String(decoding: digits, as: UTF8.self))
    }

    /// Called when libcurl replaces a reused connection, both after it was lost and after the server has refused the
    /// stream (RFC 9113 §8.7); records a refusal.
    ///
    /// Only a refusal leaves the connection intact: not ended by TCP or TLS, without unread data, and without an error
    /// of libcurl's own. In doubt the request counts as lost.
    func noteRefusalOnReusedConnection() {
        guard sends > 0, stream.isKnown, !head.hasBegun, let handle, handle.errorMessage == nil,
            connection?.isQuiet == true, refrain_tls_was_ended(handle.easy) == 0
        else { return }
        stream.noteRefusal()
    }
}
