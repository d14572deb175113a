internal import CurlShim
internal import RefrainHTTP

// MARK: Readers of bodies

extension TransferDriver {
    /// Called when the response will not be read: reads a short rest so that the connection can be reused.
    func discard(_ transfer: Transfer) {
        guard !transfer.isFinished else { return }
        guard transfer.canBeDrained, transfer.host?.hasWaiting != true else {
            end(transfer, transfer.failure(.cancelled, message: "the body was dropped unread"))
            return
        }
        transfer.isDraining = true
        transfer.drainLimit = now.after(UnreadBody.timeout.delayInNanoseconds)
        nextLimit = min(nextLimit, transfer.drainLimit)
        transfer.host?.appendDraining(transfer)
        resume(transfer)
    }

    /// Resumes a paused transfer, and ends it if a callback fails meanwhile.
    ///
    /// libcurl ignores the error of a callback that it calls here, and would continue with the transfer.
    func resume(_ transfer: Transfer) {
        let result = transfer.unpause()
        if result != CURLE_OK { end(transfer, transfer.outcome(of: result)) }
    }
}

// MARK: Silent connections

extension TransferDriver {
    /// Ends a transfer that libcurl has not ended.
    ///
    /// If the peer acknowledges none of the data that was sent, the connection is dead, which TCP itself reports after
    /// a quarter of an hour. Until then libcurl would send all requests to that origin on the same HTTP/2 connection,
    /// or on another one that died at the same time, as all do when a router has lost their state: each of these
    /// requests, and each further attempt, would time out.
    func stop(_ transfer: Transfer, _ error: HTTPError?) {
        if transfer.sends > 0, !transfer.isFinished, let connection = transfer.connection {
            let silence = connection.silence(since: transfer.lastActivity, now: now)
            if silence > 0 { abandon(connection, after: transfer, silence) }
        }
        end(transfer, error)
    }

    private func abandon(_ connection: OpenConnection, after transfer: Transfer, _ silence: Int) {
        transfer.host?.noteSilence(since: transfer.submittedAt)
        let isShared = active.contains { $0 !== transfer && $0.connection === connection }
        // The other requests may have longer limits, and the network may recover.
        if !isShared || silence >= Self.longestSilence { connection.end() }
    }

    /// The silence in milliseconds from which on a connection is ended although it carries other requests.
    private static let longestSilence = 10_000
}

// MARK: Name lookups

extension TransferDriver {
    /// Removes a handle from libcurl's multi handle.
    func remove(_ handle: EasyHandle) {
        guard let multi else { return }
        keepingPipeAction { curl_multi_remove_handle(multi, handle.easy) }
    }

    /// Keeps a handle in the multi handle until its name lookup has finished.
    ///
    /// libcurl caches the result for other transfers that look up the same name, and for the next attempt. A resolver
    /// that queries several servers in turn may take longer than the connect timeout of an attempt; if each attempt
    /// cancelled the lookup, none would finish. It also avoids that libcurl (before 7.87) blocks until the lookup ends.
    func keepForLookup(_ handle: EasyHandle) {
        handle.leaveLookup()
        lookups.append(handle)
    }

    /// Removes and frees a handle whose lookup has finished.
    func releaseLookup(_ handle: EasyHandle) {
        guard let index = lookups.firstIndex(where: { $0 === handle }) else { return }
        lookups.swapAt(index, lookups.count - 1)
        lookups.removeLast()
        handle.isLookingUp = false
        remove(handle)
        handle.free()
    }

    /// Looks a name up again that libcurl has not found, because libcurl does not say why; returns false if that is not
    /// possible.
    ///
    /// A name that does not exist will not exist a second later either. A name server that has failed or cannot be
    /// reached (while a machine starts, or its network changes) may be back in seconds.
    func lookUpAgain(_ transfer: Transfer) -> Bool {
        guard let loop, let name = transfer.nameToLookUp else { return false }
        transfer.wasLookedUpAgain = true
        if unresolved[name] != nil {
            unresolved[name]?.append(transfer)
            return true
        }
        guard unresolved.count < Self.maximumLookups else { return false }
        let hasThread = runThread { loop.post(.lookedUp(name, refrain_look_up(name))) }
        // libcurl fails in the same way without a thread for its own lookup.
        guard hasThread else {
            transfer.isNameServerSilent = true
            return false
        }
        unresolved[name] = [transfer]
        return true
    }

    /// Ends the transfers to a name that was looked up again.
    func endLookup(of name: String, _ result: refrain_name_result) {
        for transfer in unresolved.removeValue(forKey: name) ?? [] {
            // Now found, it was the name server that had failed.
            transfer.isNameServerSilent = result != REFRAIN_NAME_UNKNOWN
            end(transfer, transfer.outcome(of: CURLE_COULDNT_RESOLVE_HOST))
        }
    }

    /// The maximum number of names that are looked up again at a time.
    private static let maximumLookups = 16

    /// Releases all of these handles, at the end of the loop only: libcurl may block until the lookups end.
    func releaseLookups() {
        while let handle = lookups.last { releaseLookup(handle) }
    }
}
