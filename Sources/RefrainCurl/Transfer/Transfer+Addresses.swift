internal import CurlShim
internal import RefrainHTTP

extension Transfer {
    /// Whether to connect to an address now: one that failed lately is tried after all others (rule R33).
    func mayConnect(to address: AddressKey) -> Bool {
        if triesAllAddresses { return !failedHere.contains(address) }
        guard round.failedAddresses.contains(address, now: round.now) else { return true }
        hasLeftOutAddress = true
        return false
    }

    /// Whether the policy allows a connection to the very address that libcurl is about to connect to.
    func policyAllows(_ address: UnsafePointer<curl_sockaddr>) -> Bool {
        guard let policy = slot?.settings.destinations, !policy.allowsAll else { return true }
        guard policy.allows(AddressKey.bytes(of: address)) else {
            policyRefused = true
            return false
        }
        return true
    }

    /// Notes, where it has failed to connect, which addresses it has tried; returns whether it has tried any.
    func noteFailedConnect(_ code: HTTPError.Code) -> Bool {
        guard sends == 0, code == .cannotConnectToHost || code == .notConnectedToInternet || code == .timedOut else {
            return false
        }
        let hasTried = !opened.isEmpty || hasLeftOutAddress
        noteFailedAddresses(timedOut: code == .timedOut)
        return hasTried
    }

    /// Notes the addresses that were tried so far as failed.
    func noteFailedAddresses(timedOut: Bool) {
        for address in opened.failed(timedOut: timedOut, now: round.now) {
            failedHere.append(address)
            round.failedAddresses.note(address, now: round.now)
        }
        opened.removeAll()
    }

    /// Opens a socket for libcurl, unless that address is to be left out.
    func openSocket(to address: UnsafePointer<curl_sockaddr>) -> curl_socket_t {
        let key = AddressKey(address)
        if isLookingUp {
            isLookingUp = false
            slot?.endLookup(self)
        }
        guard slot?.settings.allowsFamily(of: address) != false, mayConnect(to: key), policyAllows(address) else {
            return CURL_SOCKET_BAD
        }
        let socket = refrain_open_socket(address)
        noteConnecting()
        opened.append(socket, to: key, now: round.now, timeLeft: timeToConnect)
        round.nextLimit = min(round.nextLimit, opened.nextLook)
        return socket
    }

    /// Notes the connection that was made for this transfer.
    func newConnection(_ key: UInt64, localPort: Int32) -> OpenConnection? {
        defer { opened.removeAll() }
        let opened = opened.entries
        // Where a name has several addresses, several sockets may have been opened.
        guard let index = opened.lastIndex(where: { refrain_local_port($0.socket) == localPort }) else {
            round.connections.forget(key)
            return nil
        }
        let made = opened[index]
        round.failedAddresses.forget(made.address)
        // libcurl tries the addresses of a family one after the other, and both families at a time (RFC 8305): one of
        // the other family was only slower.
        for other in opened[..<index] where other.address.isIPv6 == made.address.isIPv6 {
            round.failedAddresses.note(other.address, now: round.now)
        }
        return round.connections.note(key, socket: made.socket)
    }

    /// Notes that libcurl looks for another connection, which it does of a reused one both where it was lost and where
    /// the server has refused the stream (RFC 9113 §8.7).
    ///
    /// Only a refusal leaves the connection as it was: not ended, by TCP or by TLS, with nothing unread, and without an
    /// error of libcurl's own. In doubt the request counts as lost.
    func noteRefusalOnReusedConnection() {
        guard sends > 0, stream.isKnown, !head.hasBegun, let slot, slot.errorMessage == nil,
            connection?.isQuiet == true, refrain_tls_was_ended(slot.easy) == 0
        else { return }
        stream.noteRefusal()
    }
}
