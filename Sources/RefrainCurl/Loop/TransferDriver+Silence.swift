internal import RefrainHTTP

extension TransferDriver {
    /// Ends a transfer that libcurl has not ended.
    ///
    /// Where nothing that was sent for it is acknowledged, the connection leads nowhere, which TCP itself notices after
    /// a quarter of an hour. Until then libcurl would send all requests to that origin on the same connection of
    /// HTTP/2, or on another one that has become useless at the same time, as all do where a router has forgotten them:
    /// each of them, and each further attempt, would run into its time limit.
    func stop(_ transfer: Transfer, _ error: HTTPError?) {
        if transfer.sends > 0, !transfer.isFinished, let connection = transfer.connection {
            let silence = connection.silence(since: transfer.lastActivity, now: now)
            if silence > 0 { leave(connection, after: transfer, silence) }
        }
        end(transfer, error)
    }

    private func leave(_ connection: OpenConnection, after transfer: Transfer, _ silence: Int) {
        transfer.host?.noteSilence(since: transfer.submittedAt)
        let isShared = active.contains { $0 !== transfer && $0.connection === connection }
        // Others may be content to wait until the way is there again.
        if !isShared || silence >= Self.longestSilence { connection.end() }
    }

    /// From how many milliseconds on a connection is ended although other requests are on it.
    private static let longestSilence = 10_000
}
