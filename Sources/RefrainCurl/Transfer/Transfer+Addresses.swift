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
        noteFailedAddresses()
        return hasTried
    }

    /// Notes the addresses that were tried so far as failed.
    func noteFailedAddresses() {
        for socket in opened {
            failedHere.append(socket.address)
            round.failedAddresses.note(socket.address, now: round.now)
        }
        opened = []
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
